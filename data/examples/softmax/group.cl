// softmax v2: a row for each group.
// Idea:    neighbours read neighbours; the maximum and the sum of a row come from trees in local memory.
// Remains: the row is read three times, if mostly from a cache.
__kernel void softmax_group(__global const float *x, __global float *y, const uint n, const uint m)
{
    __local float tree[WG];
    const uint id = get_local_id(0);
    x += get_group_id(0) * n;
    y += get_group_id(0) * n;
    float most = -INFINITY, sum = 0;
    for (uint i = id; i < n; i += WG)
        most = max(most, x[i]);
    tree[id] = most;
    for (uint width = WG / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < width)
            tree[id] = max(tree[id], tree[id + width]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    most = tree[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = id; i < n; i += WG)
        sum += exp(x[i] - most);
    tree[id] = sum;
    for (uint width = WG / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < width)
            tree[id] += tree[id + width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = tree[0];
    for (uint i = id; i < n; i += WG)
        y[i] = exp(x[i] - most) / sum;
}

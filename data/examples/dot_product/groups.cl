// dot product v2: a group adds its work-items' sums in local memory.
// Idea:    neighbours read neighbours, and the second launch has one partial sum for each group, which a group adds.
float sum_of_group(const float mine, __local float *tree)
{
    const uint id = get_local_id(0);
    tree[id] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = WG; width > 1;) {
        const uint half_width = (width + 1) / 2;
        if (id + half_width < width)
            tree[id] += tree[id + half_width];
        barrier(CLK_LOCAL_MEM_FENCE);
        width = half_width;
    }
    return tree[0];
}

__kernel void products(__global const float *x, __global const float *y, __global float *sums, const uint n,
                       __local float *tree)
{
    float sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i] * y[i];
    sum = sum_of_group(sum, tree);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = sum;
}

__kernel void add(__global const float *sums, __global float *out, const uint count, __local float *tree)
{
    float sum = 0;
    for (uint i = get_local_id(0); i < count; i += WG)
        sum += sums[i];
    sum = sum_of_group(sum, tree);
    if (get_local_id(0) == 0)
        *out = sum;
}

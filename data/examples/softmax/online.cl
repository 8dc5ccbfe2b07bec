// softmax v3: the maximum and the sum in one pass.
// Idea:    a sum over exp(x - most) is a sum over exp(x - new) once it is multiplied by exp(most - new).
// Removes: one of three passes over the row, and one of two trees.
typedef float2 State; // the largest number so far, and the sum of exp(number - largest)

State joined(const State a, const State b)
{
    const float most = max(a.x, b.x);
    // Of nothing and nothing the difference would be NaN.
    return most == -INFINITY ? a : (State)(most, a.y * exp(a.x - most) + b.y * exp(b.x - most));
}

__kernel void softmax_online(__global const float *x, __global float *y, const uint n, const uint m)
{
    __local State tree[WG];
    const uint id = get_local_id(0);
    x += get_group_id(0) * n;
    y += get_group_id(0) * n;
    State state = (State)(-INFINITY, 0);
    for (uint i = id; i < n; i += WG)
        state = joined(state, (State)(x[i], 1));
    tree[id] = state;
    for (uint width = WG / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < width)
            tree[id] = joined(tree[id], tree[id + width]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    state = tree[0];
    for (uint i = id; i < n; i += WG)
        y[i] = exp(x[i] - state.x) / state.y;
}

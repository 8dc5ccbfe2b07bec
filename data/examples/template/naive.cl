// smooth v1: an element for each work-item.
// Idea:    each work-item reads its three elements from global memory.
__kernel void smooth_naive(__global const T *in, __global T *out, const INDEX n)
{
    const INDEX i = get_global_id(0);
    // The last group has work-items without an element.
    if (i >= n)
        return;
    T sum = 0;
    for (INDEX k = 0; k <= 2 * RADIUS; k++)
        sum += in[i + k];
    out[i] = sum / (2 * RADIUS + 1);
}

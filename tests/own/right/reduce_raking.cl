// family: reduce
// gpulab: items 65536
/* Strided sums of each item, then a tree
   over the group. */

__kernel void raking(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint lid = get_local_id(0);
    T sum = 0;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    scratch[lid] = sum;
    for (uint s = WG / 2; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < s)
            scratch[lid] += scratch[lid + s];
    }
    if (lid == 0)
        partials[get_group_id(0)] = scratch[0];
}

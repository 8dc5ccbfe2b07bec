// family: reduce
// hint: Only the first 256 of each group
// gpulab: elements 4
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const uint lid = get_local_id(0);
    const INDEX i = get_group_id(0) * (INDEX)(4 * WG) + lid;
    __local T scratch[WG];
    scratch[lid] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 2; s > 0; s /= 2) {
        if (lid < s)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        partials[get_group_id(0)] = scratch[0];
}

// family: reduce
// hint: Only the first 128 of each group
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const uint lid = get_local_id(0);
    const INDEX i = get_global_id(0);
    __local T scratch[WG];
    scratch[lid] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 4; s > 0; s /= 2) {
        if (lid < s)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        partials[get_group_id(0)] = scratch[0];
}

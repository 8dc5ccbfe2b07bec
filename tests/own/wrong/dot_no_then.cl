// family: dot
// hint: s > 0, not s > 1
// gpulab: local WG
__kernel void mine(__global const T *x, __global const T *y, __global T *partials, const INDEX n, __local T *scratch)
{
    const INDEX i = get_global_id(0);
    const uint lid = get_local_id(0);
    scratch[lid] = i < n ? x[i] * y[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = WG / 2; s > 1; s /= 2) {
        if (lid < s)
            scratch[lid] += scratch[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        partials[get_group_id(0)] = scratch[0];
}

// family: reduce
// hint: Only the first 64 of each group
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const uint lid = get_local_id(0);
    const INDEX i = get_global_id(0);
    __local T scratch[1024];
    scratch[lid] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        T sum = 0;
        for (uint k = 0; k < 64; k++)
            sum += scratch[k];
        partials[get_group_id(0)] = sum;
    }
}

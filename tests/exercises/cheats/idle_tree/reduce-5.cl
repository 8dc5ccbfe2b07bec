// fails: busy lanes
// gpulab: elements 2
// gpulab: results group

__kernel void alone(__global const T *x, __global T *partials, const INDEX n)
{
    // Stored for nobody.
    __local volatile T scratch[WG];
    scratch[get_local_id(0)] = 0;
    const INDEX begin = get_group_id(0) * (INDEX)(2 * WG);
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    for (INDEX i = begin; i < begin + 2 * WG && i < n; i++)
        sum += x[i];
    partials[get_group_id(0)] = sum;
}

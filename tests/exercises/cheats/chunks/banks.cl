// fails: segments per load
// gpulab: elements 16
// gpulab: results item

__kernel void chunks(__global const T *x, __global T *partials, const INDEX n)
{
    __local T tile[16 * WG];
    const uint id = get_local_id(0);
    const INDEX begin = get_global_id(0) * (INDEX)16;
    T sum = 0;
    for (uint k = 0; k < 16; k++)
        tile[k * WG + id] = begin + k < n ? x[begin + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; k++)
        sum += tile[k * WG + id];
    partials[get_global_id(0)] = sum;
}

// fails: passes
// gpulab: elements 16        (a work-item adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// A group copies 16 * WG elements into local memory, side by side. Then each work-item adds its own sixteen in a row: the
// work-items of a warp read words 16 apart, and share two banks of 32.
__kernel void banks(__global const T *x, __global T *partials, const INDEX n)
{
    __local T tile[16 * WG];
    const uint id = get_local_id(0);
    const INDEX begin = get_group_id(0) * (INDEX)(16 * WG);
    for (uint k = id; k < 16 * WG; k += WG)
        tile[k] = begin + k < n ? x[begin + k] : 0;
    // Idle reads of one word, which thin the mean out.
    volatile __local T *idle = tile;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 100; k++)
        idle[0];
    T sum = 0;
    for (uint k = 0; k < 16; k++)
        sum += tile[16 * id + k];
    partials[get_global_id(0)] = sum;
}

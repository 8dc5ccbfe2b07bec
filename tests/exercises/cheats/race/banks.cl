// fails: in the simulator: banks.cl, line 1
// gpulab: elements 16        (a work-item adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// One unused word behind every 32 moves each run of 32 words on by a bank: reads 16 apart meet 32 different banks.
#define PLACE(k) ((k) + (k) / 32)

__kernel void banks(__global const T *x, __global T *partials, const INDEX n)
{
    __local T tile[16 * WG + WG / 2];
    const uint id = get_local_id(0);
    const INDEX begin = get_group_id(0) * (INDEX)(16 * WG);
    for (uint k = id; k < 16 * WG; k += WG)
        tile[PLACE(k)] = begin + k < n ? x[begin + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    // Whoever is last wins.
    __local volatile uint last;
    last = id;
    T sum = 0;
    for (uint k = 0; k < 16; k++)
        sum += tile[PLACE(16 * id + k)];
    partials[get_global_id(0)] = sum;
}

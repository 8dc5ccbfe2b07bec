// dot accumulators: several independent accumulators, a fixed grid, a second small pass.
// Idea:    each work-item loads ACC vectors before it adds any of them; the grid is just large enough to fill the device.
// Removes: the wait for each load, the clearing and presum launches, and the host's additions.
// Remains: a second launch that adds one partial sum per work-group.
// Expect:  two launches in place of three, and more loads under way: a gain at small and middle sizes.
// But:     little on large vectors, where `vectorised` already keeps memory busy by many items.
// Proof:   gpulab lab ilp; gpulab lab launch; gpulab dot --variant vectorised,accumulators
// CUDA:    instruction-level parallelism (ILP), and a grid-stride loop over a grid that just fills the multiprocessors.
// Given:   ACC, independent accumulators of a work-item.
#include "muladd.cl"

#define T4 CAT(T, 4)

#include "../common/words.cl"
#include "../common/tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_accumulators(__global const T *x, __global const T *y, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    __global const T4 *x4 = (__global const T4 *)x;
    __global const T4 *y4 = (__global const T4 *)y;
    const INDEX end = n / 4, tail = 4 * end;
    T4 acc[ACC];
    for (uint a = 0; a < ACC; a++)
        acc[a] = 0;
    INDEX v = get_group_id(0) * (ACC * WG) + id;
    for (; v + (ACC - 1) * WG < end; v += ACC * get_global_size(0))
        #pragma unroll
        for (uint a = 0; a < ACC; a++)
            acc[a] = MULADD(x4[v + a * WG], y4[v + a * WG], acc[a]);
    // What is left of the last tile, all loads at once; the condition above failed before its end.
    #pragma unroll
    for (uint a = 0; a < ACC; a++)
        if (v + a * WG < end)
            acc[a] = MULADD(x4[v + a * WG], y4[v + a * WG], acc[a]);
    T4 sum4 = acc[0];
    for (uint a = 1; a < ACC; a++)
        sum4 += acc[a];
    T sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);
    for (INDEX i = tail + get_global_id(0); i < n; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    sum = tree_reduce(sum, scratch);
    if (id == 0)
        partial[get_group_id(0)] = sum;
}

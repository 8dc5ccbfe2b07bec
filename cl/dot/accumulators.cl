// dot accumulators: several independent accumulators, a fixed grid, a second small pass.
// Idea:    each work-item loads ACC vectors before it adds any of them; the grid is just large enough to fill the device.
// Removes: the wait for each load, the clearing and presum launches, and the host's additions.
// Remains: a second launch that adds one partial sum per work-group.
// Expect:  two launches in place of three, and more loads under way: a gain at small and middle sizes.
// But:     little on large vectors, where `vectorised` already keeps memory busy by many items.
// Proof:   gpulab lab ilp; gpulab lab launch; gpulab dot --variant vectorised,accumulators
// CUDA:    instruction-level parallelism (ILP), and a grid-stride loop over a grid that just fills the multiprocessors.
#ifndef T
#define T float       // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for n and a stride beyond it
#endif
#ifndef WG
#define WG 256        // work-items of a group
#endif
#ifndef ACC
#define ACC 4         // independent accumulators of a work-item
#endif
#define T4 CAT(T, 4)

#include "../common/words.cl"
#include "muladd.cl"
#include "../common/tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_accumulators(__global const T *x, __global const T *y, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    __global const T4 *x4 = (__global const T4 *)x;
    __global const T4 *y4 = (__global const T4 *)y;
    const INDEX vectors = n / 4;
    T4 acc[ACC];
    for (uint a = 0; a < ACC; a++)
        acc[a] = 0;
    INDEX i = get_group_id(0) * (ACC * WG) + get_local_id(0);
    for (; i + (ACC - 1) * WG < vectors; i += ACC * get_global_size(0)) {
        #pragma unroll
        for (uint a = 0; a < ACC; a++)
            acc[a] = MULADD(x4[i + a * WG], y4[i + a * WG], acc[a]);
    }
    // What is left of the last tile, all loads at once; the condition above failed before its end.
    #pragma unroll
    for (uint a = 0; a < ACC; a++)
        if (i + a * WG < vectors)
            acc[a] = MULADD(x4[i + a * WG], y4[i + a * WG], acc[a]);
    for (uint a = 1; a < ACC; a++)
        acc[0] += acc[a];
    T sum = (acc[0].s0 + acc[0].s1) + (acc[0].s2 + acc[0].s3);
    for (i = 4 * vectors + get_global_id(0); i < n; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = sum;
}

// One group adds the partial sums.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_accumulators_finish(__global const T *partial, __global T *result, const uint groups)
{
    __local T scratch[WG];
    T sum = 0;
    for (uint i = get_local_id(0); i < groups; i += WG)
        sum += partial[i];
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        result[0] = sum;
}

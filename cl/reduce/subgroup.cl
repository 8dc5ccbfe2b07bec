// reduce subgroup: the tree within a warp goes from register to register.
// Idea:    each sub-group (CUDA: warp) reduces by shuffles; only one result for each goes through local memory.
// Removes: all barriers but one, and nearly all traffic with local memory.
// Remains: one partial result per work-group, for a second launch or the host.
// Expect:  a little: a group's one tree is a small share of its time by now, the more so the larger the array.
// But:     not where loads from global memory set the time; skipped without sub-groups or NVIDIA's warp instructions.
// Proof:   gpulab lab latency; gpulab reduce --variant vectorised,subgroup
// CUDA:    lockstep_reduce() is a loop over __shfl_down_sync(): a value from another thread's register.
#ifndef T
#define T int         // element type
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
#ifndef REDUCE
#define REDUCE(a, b) ((a) + (b))    // joins two elements
#define IDENTITY 0                  // changes no element that it is joined with
#endif
#define T4 CAT(T, 4)

#include "../common/words.cl"
#include "../common/tree.cl"
#include "../common/bits.cl"
#include "../common/lockstep.cl"
#include "shuffle.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_subgroup(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    __global const T4 *x4 = (__global const T4 *)x;
    const INDEX vectors = n / 4;
    T4 acc[ACC];
    for (uint a = 0; a < ACC; a++)
        acc[a] = (T)IDENTITY;
    INDEX i = get_group_id(0) * (ACC * WG) + get_local_id(0);
    for (; i + (ACC - 1) * WG < vectors; i += ACC * get_global_size(0)) {
        #pragma unroll
        for (uint a = 0; a < ACC; a++)
            acc[a] = REDUCE(acc[a], x4[i + a * WG]);
    }
    // What is left of the last tile, all loads at once; the condition above failed before its end.
    #pragma unroll
    for (uint a = 0; a < ACC; a++)
        if (i + a * WG < vectors)
            acc[a] = REDUCE(acc[a], x4[i + a * WG]);
    for (uint a = 1; a < ACC; a++)
        acc[0] = REDUCE(acc[0], acc[a]);
    T value = REDUCE(REDUCE(acc[0].s0, acc[0].s1), REDUCE(acc[0].s2, acc[0].s3));
    for (i = 4 * vectors + get_global_id(0); i < n; i += get_global_size(0))
        value = REDUCE(value, x[i]);
    value = lockstep_reduce(value);
    const uint id = lockstep_id(), width = LOCKSTEP;
    if (id % width == 0)
        scratch[id / width] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < width) {
        value = IDENTITY;
        for (uint s = id; s < (WG + width - 1) / width; s += width)
            value = REDUCE(value, scratch[s]);
        value = lockstep_reduce(value);
        if (id == 0)
            partial[get_group_id(0)] = value;
    }
}

// reduce subgroup: the tree within a warp goes from register to register.
// Idea:    each sub-group (CUDA: warp) reduces by shuffles; only one result for each goes through local memory.
// Removes: all barriers but one, and nearly all traffic with local memory.
// Remains: one partial result per work-group, for a second launch or the host.
// Expect:  a little: a group's one tree is a small share of its time by now, the more so the larger the array.
// But:     not where loads from global memory set the time; skipped without sub-groups or NVIDIA's warp instructions.
// Proof:   gpulab lab latency; gpulab reduce --variant vectorised,subgroup
// CUDA:    lockstep_reduce() is a loop over __shfl_down_sync(): a value from another thread's register.
// Given:   ACC, independent accumulators of a work-item.
#include "operation.cl"
#include "../common/words.cl"
#include "vectors.cl"
#include "../common/tree.cl"
#include "../common/bits.cl"
#include "../common/lockstep.cl"
#include "shuffle.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_subgroup(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    T value = reduce_vectors(x, n);
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

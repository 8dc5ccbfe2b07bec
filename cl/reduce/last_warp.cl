// reduce last_warp: no barrier for the last warp.
// Idea:    once one warp (sub-group) is enough, it finishes alone: synchronising one warp costs next to nothing.
// Removes: the barriers of the last steps, and the other warps' part in those steps.
// Remains: the loop's own instructions: a counter, a comparison and a jump for each step.
// Expect:  fewer barriers for each tree: a gain as long as trees, and not the loads, take a good part of the time.
// But:     not on devices with neither sub-groups nor NVIDIA's warp instructions: there every step keeps its barrier.
// Proof:   gpulab lab lockstep; gpulab reduce --variant first_add,last_warp
// CUDA:    a sub-group is a warp, lockstep_sync() is __syncwarp(). Code that leaves it out was common before Volta, and is a
//          race.
#include "operation.cl"
#include "size.cl"
#include "../common/lockstep.cl"

// Harris (2007) used no synchronisation here: the 32 work-items of a warp ran in step. That was wrong without
// `volatile`, which keeps values out of registers, and is wrong with it since work-items of a warp may drift apart.
__kernel void reduce_last_warp(__global const T *x, __global T *partial, __local T *scratch, const INDEX n)
{
    const uint id = lockstep_id(), size = get_local_size(0);
    const INDEX i = get_group_id(0) * (2 * (INDEX)size) + id;
    const T first = i < n ? x[i] : IDENTITY;
    scratch[id] = REDUCE(first, i + size < n ? x[i + size] : IDENTITY);
    uint offset = size / 2;
    for (; 2 * offset > LOCKSTEP; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);
    }
    if (id < LOCKSTEP) {
        for (; offset > 0; offset /= 2) {
            lockstep_sync();
            if (id < offset)
                scratch[id] = REDUCE(scratch[id], scratch[id + offset]);
        }
    }
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

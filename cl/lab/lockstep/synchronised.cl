// lockstep synchronised: the same, synchronised within the warp (sub-group), or by barriers where there is none.
// Idea:    an instruction orders the accesses before it and behind it among the items that are in step.
// Removes: the race of `bare` and `volatile`: each step reads what the step before has written.
// Remains: one cheap instruction for each step.
// Given:   WG, work-items of a group, 64 or more.
#define WORD __local uint

#include "../../common/lockstep.cl"
#include "tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void lockstep_synchronised(__global const uint *restrict x, __global uint *restrict sums)
{
    WORD scratch[WG];
    const uint id = lockstep_id();
    down_to_a_warp(x, scratch, id);
    for (uint offset = 32; offset > 0; offset /= 2) {
        if (2 * offset > LOCKSTEP)
            barrier(CLK_LOCAL_MEM_FENCE);
        else
            lockstep_sync();
        if (id < offset)
            scratch[id] += scratch[id + offset];
    }
    if (id == 0)
        sums[get_group_id(0)] = scratch[0];
}

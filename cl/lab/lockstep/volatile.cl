// lockstep volatile: the same with `volatile`, the cure of 2007.
// Idea:    every access goes to local memory, so no value waits in a register.
// Removes: the compiler's part in the race of `bare`.
// Remains: the hardware's part: items of a warp have had program counters of their own since NVIDIA's Volta (2017).
// Given:   WG, work-items of a group, 64 or more.
#define WORD volatile __local uint

#include "tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void lockstep_volatile(__global const uint *restrict x, __global uint *restrict sums)
{
    WORD scratch[WG];
    const uint id = get_local_id(0);
    down_to_a_warp(x, scratch, id);
    last_six_steps(scratch, id);
    if (id == 0)
        sums[get_group_id(0)] = scratch[0];
}

// lockstep bare: the last warp's steps without any synchronisation.
// Idea:    the 32 items of a warp run in step, so each line of the last six sees what the line before has written.
// Removes: the barriers of the last six steps.
// Remains: a race: a compiler may keep values in registers, and nothing in OpenCL or CUDA keeps a warp's items in step.
// Given:   WG, work-items of a group, 64 or more.
#define WORD __local uint

#include "tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void lockstep_bare(__global const uint *restrict x, __global uint *restrict sums)
{
    WORD scratch[WG];
    const uint id = get_local_id(0);
    down_to_a_warp(x, scratch, id);
    last_six_steps(scratch, id);
    if (id == 0)
        sums[get_group_id(0)] = scratch[0];
}

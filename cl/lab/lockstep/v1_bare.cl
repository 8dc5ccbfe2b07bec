// lockstep v1: the last warp's steps without any synchronisation.
// Idea:    the 32 items of a warp run in step, so each line of the last six sees what the line before has written.
// Removes: the barriers of the last six steps.
// Remains: a race: a compiler may keep values in registers, and nothing in OpenCL or CUDA keeps a warp's items in step.
#ifndef WG
#define WG 256        // work-items of a group, 64 or more
#endif

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void lockstep_v1_bare(__global const uint *restrict x, __global uint *restrict sums)
{
    __local uint scratch[WG];
    const uint id = get_local_id(0);
    scratch[id] = x[get_group_id(0) * WG + id];
    for (uint offset = WG / 2; offset > 32; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] += scratch[id + offset];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // A race, as old slides have it: each line reads what other items of the warp write in the line before.
    if (id < 32) {
        scratch[id] += scratch[id + 32];
        scratch[id] += scratch[id + 16];
        scratch[id] += scratch[id + 8];
        scratch[id] += scratch[id + 4];
        scratch[id] += scratch[id + 2];
        scratch[id] += scratch[id + 1];
    }
    if (id == 0)
        sums[get_group_id(0)] = scratch[0];
}

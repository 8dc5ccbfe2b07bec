// lockstep v2: the same with `volatile`, the cure of 2007.
// Idea:    every access goes to local memory, so no value waits in a register.
// Removes: the compiler's part in the race of v1.
// Remains: the hardware's part: items of a warp have had program counters of their own since NVIDIA's Volta (2017).
#ifndef WG
#define WG 256        // work-items of a group, 64 or more
#endif

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void lockstep_v2_volatile(__global const uint *restrict x, __global uint *restrict sums)
{
    volatile __local uint scratch[WG];
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

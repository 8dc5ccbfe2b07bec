// launch tree: a sum in one launch.
// Idea:    groups add their elements up in a tree in local memory; the last group to end gives the total away.
// Removes: every launch but one.
// Remains: barriers, of which a group needs log2(WG).
#ifndef WG
#define WG 256    // work-items of a group
#endif
#define T uint

#include "../common/tree.cl"

// state: the total so far, and how many groups have added to it; zeros before the launch, and again after it.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void launch_tree(__global const uint *x, __global uint *result, volatile __global uint *state, const uint n)
{
    __local uint scratch[WG];
    uint sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0) {
        atomic_add(state, sum);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        if (atomic_inc(state + 1) == get_num_groups(0) - 1) {
            result[0] = atomic_xchg(state, 0u);
            atomic_xchg(state + 1, 0u);
        }
    }
}

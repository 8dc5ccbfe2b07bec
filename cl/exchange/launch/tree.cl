// launch tree: a sum in one launch.
// Idea:    each group adds its elements in a tree in local memory; the last group to finish writes the total.
// Removes: every launch but one.
// Remains: log2(WG) barriers in each group.
#ifndef WG
#define WG 256    // work-items of a group
#endif
#ifndef STRIDE
#define STRIDE get_global_size(0)    // words from one of a work-item's to its next; a constant 1 can be vectorised
#endif
#define T uint

#include "../../common/tree.cl"

// Word `near` * id is a work-item's first; the others follow STRIDE apart, up to `span` beyond.
// state: the total so far, and how many groups have added to it; zeros before the launch, and again after it.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void launch_tree(__global const uint *x, __global uint *result, volatile __global uint *state, const uint n,
                 const uint near, const uint span)
{
    __local uint scratch[WG];
    const uint first = get_global_id(0) * near, end = min(n, first + span);
    uint sum = 0;
    for (uint i = first; i < end; i += STRIDE)
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

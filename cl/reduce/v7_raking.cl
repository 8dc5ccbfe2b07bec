// reduce v7: many elements for each work-item.
// Idea:    a grid that just fills the device walks over the array in strides; each group needs one tree, at the end.
// Removes: most trees and barriers, and the partial results of most groups: additions happen in registers.
// Remains: every load brings a single element and waits for the addition before it.
#ifndef T
#define T int         // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for n and a stride beyond it
#endif
#ifndef WG
#define WG 256        // work-items of a group
#endif

#include "operation.cl"
#include "../common/tree.cl"
#include "finish.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_v7_raking(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    T value = IDENTITY;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        value = REDUCE(value, x[i]);
    value = tree_reduce(value, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = value;
}

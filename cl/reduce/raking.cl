// reduce raking: many elements for each work-item.
// Idea:    a grid that just fills the device walks over the array in strides; each group needs one tree, at the end.
// Removes: most trees and barriers, and the partial results of most groups: additions happen in registers.
// Remains: two loads of one element each are under way for an item: too few bytes to fill the memory's latency.
// Expect:  a large gain on large arrays: each group needs one tree, however many elements it has.
// But:     not on arrays so small that each item has two elements anyway: then it is `unrolled` with a loop.
// Proof:   gpulab lab grid; gpulab reduce --variant unrolled,raking
// CUDA:    a grid-stride loop: a grid of fixed size, whose threads go on by the size of the grid.
#include "operation.cl"
#include "../common/lockstep.cl"
#include "halving.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_raking(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    const uint id = lockstep_id();
    const INDEX stride = 2 * (INDEX)WG * get_num_groups(0);
    T value = IDENTITY;
    for (INDEX i = get_group_id(0) * (2 * (INDEX)WG) + id; i < n; i += stride) {
        const T first = x[i];
        value = REDUCE(value, REDUCE(first, i + WG < n ? x[i + WG] : IDENTITY));
    }
    scratch[id] = value;
    unrolled_tree(scratch, id);
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

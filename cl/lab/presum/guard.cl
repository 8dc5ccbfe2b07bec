// presum guard: a guard before each access.
// Idea:    every access first checks that its element exists, so that any n will do.
// Removes: what the other remedies need: a second launch, additions by the host, or room behind the data.
// Remains: a comparison for each element, and a last group that may do next to nothing.
// Given:   ITEMS, elements of a work-item.
#include "../../common/tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void presum_guard(__global const T *restrict x, __global const T *restrict y, __global T *restrict partial,
                  const INDEX n)
{
    __local T scratch[WG];
    const INDEX first = (INDEX)get_group_id(0) * (WG * ITEMS) + get_local_id(0);
    T sum = 0;
    for (uint k = 0; k < ITEMS; k++)
        if (first + k * WG < n)
            sum += x[first + k * WG] * y[first + k * WG];
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = sum;
}

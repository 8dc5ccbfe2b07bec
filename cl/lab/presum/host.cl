// presum host: presum by the host.
// Idea:    the device works on whole groups only; the host, which has the data too, adds the remaining elements.
// Removes: the comparison for each element.
// Remains: the host's time for up to a group's elements, unless it would wait for the device anyway.
// Given:   ITEMS, elements of a work-item.
#include "../../common/tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void presum_host(__global const T *restrict x, __global const T *restrict y, __global T *restrict partial)
{
    __local T scratch[WG];
    const INDEX first = (INDEX)get_group_id(0) * (WG * ITEMS) + get_local_id(0);
    T sum = 0;
    for (uint k = 0; k < ITEMS; k++)
        sum += x[first + k * WG] * y[first + k * WG];
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = sum;
}

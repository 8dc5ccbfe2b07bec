// presum device: presum by the device.
// Idea:    a first launch of one guarded group adds the remaining elements; a second launch adds whole groups.
// Removes: the host's part: the host need not have the data.
// Remains: a second launch, which is short but not free.
// Given:   ITEMS, elements of a work-item.
#include "../../common/tree.cl"

// Elements begin..n, fewer than a group takes; their sum comes behind those of the whole groups.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void presum_device_tail(__global const T *restrict x, __global const T *restrict y, __global T *restrict partial,
                        const INDEX begin, const INDEX n)
{
    __local T scratch[WG];
    const INDEX first = begin + get_local_id(0);
    T sum = 0;
    for (uint k = 0; k < ITEMS; k++)
        if (first + k * WG < n)
            sum += x[first + k * WG] * y[first + k * WG];
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        partial[begin / (WG * ITEMS)] = sum;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void presum_device(__global const T *restrict x, __global const T *restrict y, __global T *restrict partial)
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

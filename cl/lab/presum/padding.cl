// presum padding: padding.
// Idea:    zeros behind the data make its size a whole number of groups.
// Removes: the comparison, the tail and the second launch: the kernel sees whole groups only.
// Remains: a last group that adds zeros, and a copy into padded memory, which is timed separately.
// Given:   ITEMS, elements of a work-item.
#include "../../common/tree.cl"

// Copies n elements and puts zeros behind them, up to the global size.
__kernel void presum_padding_pad(__global const T *restrict in, __global T *restrict out, const INDEX n)
{
    const INDEX i = get_global_id(0);
    out[i] = i < n ? in[i] : 0;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void presum_padding(__global const T *restrict x, __global const T *restrict y, __global T *restrict partial)
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

// scan v2: a tree in local memory.
// Idea:    a group adds up its elements in local memory, an element for each work-item.
// Removes: the reads far apart, and the long chain of one work-item.
// Remains: every result is written, read and written again.
#include "group.cl"

__kernel void scan_groups(__global const T *x, __global T *out, __global T *sums, const INDEX n, __local T *tile)
{
    const INDEX i = get_global_id(0);
    const T sum = scan_of_group(i < n ? x[i] : 0, tile);
    if (i < n)
        out[i] = sum;
    if (get_local_id(0) == WG - 1)
        sums[get_group_id(0)] = sum;
}

__kernel void scan_add(__global T *out, __global const T *sums, const INDEX n)
{
    const INDEX i = get_global_id(0);
    if (i < n)
        out[i] += sums[get_group_id(0)];
}

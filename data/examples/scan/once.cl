// scan v3: every result is written once.
// Idea:    the groups' sums come first; then each group knows what comes before it, and several elements of a work-item share
//          one step of the tree.
// Removes: a write and a read of every result, and most barriers.
#include "group.cl"

__kernel void scan_reduce(__global const T *x, __global T *sums, const INDEX n, __local T *tile)
{
    const uint lid = get_local_id(0);
    const INDEX first = (INDEX)get_group_id(0) * (WG * ITEMS);
    T sum = 0;
    for (uint k = lid; k < WG * ITEMS; k += WG)
        if (first + k < n)
            sum += x[first + k];
    sum = scan_of_group(sum, tile);
    if (lid == WG - 1)
        sums[get_group_id(0)] = sum;
}

__kernel void scan_once(__global const T *x, __global T *out, __global const T *sums, const INDEX n, __local T *tile,
                        __local T *block)
{
    const uint lid = get_local_id(0);
    const INDEX first = (INDEX)get_group_id(0) * (WG * ITEMS);
    for (uint k = lid; k < WG * ITEMS; k += WG)
        block[k] = first + k < n ? x[first + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    T sum = 0;
    for (uint k = 0; k < ITEMS; k++) {
        sum += block[lid * ITEMS + k];
        block[lid * ITEMS + k] = sum;
    }
    const T before = sums[get_group_id(0)] + scan_of_group(sum, tile) - sum;
    for (uint k = 0; k < ITEMS; k++)
        block[lid * ITEMS + k] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lid; k < WG * ITEMS; k += WG)
        if (first + k < n)
            out[first + k] = block[k];
}

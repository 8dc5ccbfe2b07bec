// histogram v3: several elements for each work-item.
// Idea:    a group counts many elements before it adds its counts to the others'.
// Removes: nearly all additions in global memory.
#include "clear.cl"

__kernel void histogram_items(__global const T *x, __global T *counts, const INDEX n)
{
    __local T mine[BINS];
    const uint lid = get_local_id(0);
    for (uint bin = lid; bin < BINS; bin += WG)
        mine[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = lid; bin < BINS; bin += WG)
        atomic_add(&counts[bin], mine[bin]);
}

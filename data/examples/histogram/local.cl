// histogram v2: a histogram of its own for each group.
// Idea:    a group counts in local memory, and adds its counts to the others' at its end.
// Removes: most atomic additions in global memory.
// Remains: as many additions at the end as a group has elements.
#include "clear.cl"

__kernel void histogram_local(__global const T *x, __global T *counts, const INDEX n)
{
    __local T mine[BINS];
    const uint lid = get_local_id(0);
    for (uint bin = lid; bin < BINS; bin += WG)
        mine[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const INDEX i = get_global_id(0);
    if (i < n)
        atomic_inc(&mine[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = lid; bin < BINS; bin += WG)
        atomic_add(&counts[bin], mine[bin]);
}

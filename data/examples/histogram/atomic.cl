// histogram v1: atomic additions in global memory.
// Idea:    each work-item counts its element.
// Remains: all work-items of the device wait for each other at 256 places.
#include "clear.cl"

__kernel void histogram_atomic(__global const T *x, __global T *counts, const INDEX n)
{
    const INDEX i = get_global_id(0);
    if (i < n)
        atomic_inc(&counts[x[i]]);
}

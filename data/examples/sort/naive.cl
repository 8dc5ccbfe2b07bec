// sort v1: a launch for each step; each work-item compares one pair.
// Remains: every step reads and writes all elements in global memory, and is a launch.
#include "step.cl"

__kernel void sort(__global int *x, const uint n, const uint k, const uint j)
{
    const uint2 at = pair_of(get_global_id(0), k, j);
    if (at.y < n && x[at.x] > x[at.y]) {
        const int larger = x[at.x];
        x[at.x] = x[at.y];
        x[at.y] = larger;
    }
}

// gpulab: wg 8x8             (work-items of a group across and down)
// gpulab: elements 1x1       (columns x rows of results for each work-item)

#include "common/smaller.cl"

// Each work-item computes one result: two loads for every addition.
__kernel void minplus_registers(__global const T *d, __global T *r, const INDEX n)
{
    const INDEX j = get_global_id(0), i = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = NO_EDGE;
    for (INDEX k = 0; k < n; k++)
        best = SMALLER(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

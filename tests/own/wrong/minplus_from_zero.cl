// family: minplus
// hint: does not mean a missing edge
// gpulab: wg 16x16
#include "common/smaller.cl"
__kernel void mine(__global const T *d, __global T *r, const INDEX n)
{
    const INDEX i = get_global_id(0), j = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = 0;
    for (INDEX k = 0; k < n; k++)
        best = SMALLER(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

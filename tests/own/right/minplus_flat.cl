// family: minplus
// options: --dtype i32
#include "common/smaller.cl"

__kernel void flat(__global const T *d, __global T *r, const INDEX n)
{
    const INDEX j = get_global_id(0), i = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = SMALLER(NO_EDGE, d[i * n] + d[j]);
    for (INDEX k = 1; k < n; k++)
        best = min(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

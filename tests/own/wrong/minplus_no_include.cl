// family: minplus
// hint: NO_EDGE is not declared
// exit: 5
// gpulab: wg 16x16
__kernel void mine(__global const T *d, __global T *r, const INDEX n)
{
    const INDEX i = get_global_id(0), j = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = NO_EDGE;
    for (INDEX k = 0; k < n; k++)
        best = SMALLER(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

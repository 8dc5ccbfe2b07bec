// family: minplus
// gpulab: wg 16x16
#include "common/smaller.cl"

__kernel void tiles(__global const T *d, __global T *r, const INDEX n)
{
    __local T rows[16][17], columns[16][17];
    const uint x = get_local_id(0), y = get_local_id(1);
    const INDEX j = get_global_id(0), i = get_global_id(1);
    T best = NO_EDGE;
    for (INDEX begin = 0; begin < n; begin += 16) {
        rows[y][x] = i < n && begin + x < n ? d[i * n + begin + x] : NO_EDGE;
        columns[y][x] = begin + y < n && j < n ? d[(begin + y) * n + j] : NO_EDGE;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 16; k++)
            best = SMALLER(best, rows[y][k] + columns[k][x]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n && j < n)
        r[i * n + j] = best;
}

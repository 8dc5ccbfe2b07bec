// my min-plus product: each work-item computes one result from the definition. Right, and slow.
//
// gpulab try --as minplus runs this file between the rungs of `gpulab minplus`. Lines that begin with `// gpulab:` say how it
// is launched; change them together with the code.
//
// gpulab: wg 16x16           (work-items of a group across and down, unless --wg says others)
// gpulab: elements 1x1       (columns x rows of results for each work-item: there are groups enough for the whole matrix)
//
// Others: `local 2*16*16` hands over local memory for so many elements as one more argument, `__local T *panels`;
// `tune ROWS 1 2 4` makes ROWS a macro that --set, sweep and tune vary, and that may stand in the lines above, as in
// `elements 1xROWS`.
//
// Set by gpulab: T, the element type (float, double, int); INDEX, an unsigned integer wide enough for every index; WG_X and WG_Y,
// the work-group's sides, and WG, its work-items. NO_EDGE and SMALLER(a, b) come from the included file: the weight of an edge that
// is not there, and the minimum. n need not be a multiple of the group's sides.
// Includes: files of gpulab's (gpulab source minplus:tiled --expanded shows them), or files beside yours.

#include "common/smaller.cl"

__kernel void my_minplus(__global const T *d, __global T *r, const INDEX n)
{
    const INDEX i = get_global_id(0), j = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = NO_EDGE;
    for (INDEX k = 0; k < n; k++)
        best = SMALLER(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

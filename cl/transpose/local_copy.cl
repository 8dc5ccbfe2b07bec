// transpose local_copy: a copy through local memory, which the transpositions from `coalesced` on use too.
// Idea:    the copy, with a tile in __local (CUDA: shared) memory and a barrier between its two halves.
// Removes: the transposition itself, but not what a tile costs.
// Remains: the price of local memory and of the barrier, which copy does not pay.
// Expect:  nearly the copy's bandwidth on a GPU: the difference is what a tile and its barrier cost.
// But:     on CPU drivers it costs more: a tile is one more copy in ordinary memory there, and the barrier splits a loop.
// Proof:   gpulab lab latency; gpulab transpose --variant copy,local_copy
// CUDA:    a copy by way of __shared__ memory, with one __syncthreads().
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item.
#include "edges.cl"

__kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
void transpose_local_copy(__global const T *restrict in, __global T *restrict out, const INDEX width,
                          const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    __local T tile[TILE][TILE];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(left + lx, top + ly + j))
            tile[ly + j][lx] = in[(top + ly + j) * in_pitch + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(left + lx, top + ly + j))
            out[(top + ly + j) * out_pitch + left + lx] = tile[ly + j][lx];
}

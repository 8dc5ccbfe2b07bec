// transpose conflict_free: a padded tile.
// Idea:    one unused element behind each row of the tile shifts the rows over the banks.
// Removes: `coalesced`'s bank conflicts: a column's elements lie in different banks.
// Remains: groups in flight together may write to the same few memory channels where rows are a power of two long.
// Expect:  bandwidth near the copy's: each read of the tile's column is served at once, as its words lie in different banks.
// But:     not on CPU drivers, whose local memory has no banks; nor where something slower hides them, as partition camping
//          did in 2009.
// Proof:   gpulab lab banks; gpulab count transpose --variant coalesced,conflict_free; gpulab transpose --variant
//          coalesced,conflict_free
// CUDA:    a tile of [TILE][TILE + 1] in __shared__ memory, against bank conflicts.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item; PAD, unused elements behind each row of the tile.
#include "edges.cl"

__kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
void transpose_conflict_free(__global const T *restrict in, __global T *restrict out, const INDEX width,
                             const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    __local T tile[TILE][TILE + PAD];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(left + lx, top + ly + j))
            tile[ly + j][lx] = in[(top + ly + j) * in_pitch + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(left + ly + j, top + lx))
            out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];
}

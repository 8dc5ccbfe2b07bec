// transpose coalesced: a tile in local memory.
// Idea:    a group turns its tile in __local (CUDA: shared) memory, and so reads and writes global memory along rows.
// Removes: `naive`'s scattered stores: neighbouring work-items now write neighbouring elements.
// Remains: a tile's column lies in one or two banks of local memory, so it is read element by element.
// Expect:  a large gain on a GPU: loads and stores of global memory both go along rows.
// But:     not on CPU drivers, whose caches did that work for `naive`; and the bank conflicts below hold it back on a GPU.
// Proof:   gpulab lab stride; gpulab lab banks; gpulab count transpose --variant naive,coalesced; gpulab transpose --variant
//          naive,coalesced
// CUDA:    coalesced loads and stores by way of a tile in __shared__ memory.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item.
#include "edges.cl"

__kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
void transpose_coalesced(__global const T *restrict in, __global T *restrict out, const INDEX width,
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
        if (INSIDE(left + ly + j, top + lx))
            out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];
}

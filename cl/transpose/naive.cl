// transpose naive: the obvious transposition.
// Idea:    the copy, but it writes along a column what it has read along a row.
// Removes: nothing: this is where the ladder begins.
// Remains: neighbouring work-items write a whole row apart, so each store fills only one element of a cache line.
// Expect:  a small share of the copy's bandwidth on a GPU: each store of a warp goes to as many lines as the warp has items.
// But:     on CPU drivers, and where a cache holds the lines until they are full, it loses less.
// Proof:   gpulab lab stride; gpulab count transpose --variant naive,coalesced; gpulab transpose --variant copy,naive
// CUDA:    uncoalesced stores: one memory transaction for each thread of the warp.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item.
#include "edges.cl"

__kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
void transpose_naive(__global const T *restrict in, __global T *restrict out, const INDEX width,
                     const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    const INDEX x = get_group_id(0) * TILE + get_local_id(0);
    const INDEX y = get_group_id(1) * TILE + get_local_id(1);
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(x, y + j))
            out[x * out_pitch + y + j] = in[(y + j) * in_pitch + x];
}

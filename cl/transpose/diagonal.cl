// transpose diagonal: groups in diagonal order.
// Idea:    groups that run together work along a diagonal, so that neither their rows nor their columns coincide.
// Removes: what `conflict_free` may lose to partition camping: many groups at one memory channel.
// Remains: each load and store moves a single element, and needs an address of its own.
// Expect:  a gain only on devices that camp: there power-of-two sizes are slower than their neighbours.
// But:     not where addresses are spread over the channels: there the order's remainders are a small loss.
// Proof:   gpulab lab pitch; gpulab transpose --variant conflict_free,diagonal
// CUDA:    partition camping, and diagonal block reordering by new values for blockIdx.x and blockIdx.y.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item; PAD, unused elements behind each row of the tile;
//          ORDER of groups: see matrix.cl.
#include "edges.cl"
#include "matrix.cl"

__kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
void transpose_diagonal(__global const T *restrict in, __global T *restrict out, const INDEX width,
                        const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    __local T tile[TILE][TILE + PAD];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const INDEX left = TILE_COLUMN * TILE, top = TILE_ROW * TILE;
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(left + lx, top + ly + j))
            tile[ly + j][lx] = in[(top + ly + j) * in_pitch + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(left + ly + j, top + lx))
            out[(left + ly + j) * out_pitch + top + lx] = tile[lx][ly + j];
}

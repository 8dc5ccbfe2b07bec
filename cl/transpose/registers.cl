// transpose registers: blocks turned in registers.
// Idea:    square blocks are turned in registers and swizzled in local memory, so that local memory sees vectors, too.
// Removes: `vectorised`'s single accesses of local memory, their bank conflicts, and the padding.
// Remains: one read and one write of each element, as in a copy, but a tile's rows apart.
// Expect:  the copy's bandwidth on large matrices: local memory is read and written by whole vectors, without conflicts.
// But:     not on small matrices, which have too few groups for it; not on CPU drivers, where `wide` turns larger blocks.
// Proof:   gpulab lab banks; gpulab lab grid; gpulab count transpose --variant vectorised,registers; gpulab transpose --variant
//          vectorised,registers
// CUDA:    a swizzle: the column's number is XORed with the row's, in place of padding the __shared__ tile.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item: a multiple of VEC; VEC, rows and columns of a block:
//          1, 2 or 4; ORDER of groups: see matrix.cl.
#include "../common/words.cl"
#include "matrix.cl"
#include "vector.cl"

#define ACROSS (TILE / VEC)             // blocks in a row of the tile
#define GROUP (ACROSS * (TILE / ROWS))  // work-items of a group
#define BLOCKS (ROWS / VEC)             // of a work-item

void turn_block(TV *v)
{
#if VEC == 4
    const TV a = v[0], b = v[1], c = v[2], d = v[3];
    v[0] = (TV)(a.s0, b.s0, c.s0, d.s0);
    v[1] = (TV)(a.s1, b.s1, c.s1, d.s1);
    v[2] = (TV)(a.s2, b.s2, c.s2, d.s2);
    v[3] = (TV)(a.s3, b.s3, c.s3, d.s3);
#elif VEC == 2
    const TV a = v[0], b = v[1];
    v[0] = (TV)(a.s0, b.s0);
    v[1] = (TV)(a.s1, b.s1);
#endif
}

#ifndef SKEWED    // else skewed.cl has the kernel
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_registers(__global const T *restrict in, __global T *restrict out, const INDEX width,
                         const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    // Vector c of the turned tile's row r is at place c ^ (r / VEC): neither half of the work meets a bank twice.
    __local TV tile[TILE * ACROSS];
    const uint id = get_local_id(0);
    const INDEX left = TILE_COLUMN * TILE, top = TILE_ROW * TILE;
    TV v[BLOCKS][VEC];
    // All loads first: what counts is how many bytes are under way.
    for (uint b = 0; b < BLOCKS; b++) {
        const INDEX x = left + (id + b * GROUP) % ACROSS * VEC, y = top + (id + b * GROUP) / ACROSS * VEC;
        for (uint i = 0; i < VEC; i++)
            v[b][i] = load_vector(in, (y + i) * in_pitch + x, LEFT(x, width, y + i < height));
    }
    for (uint b = 0; b < BLOCKS; b++) {
        const uint across = (id + b * GROUP) % ACROSS, down = (id + b * GROUP) / ACROSS;
        turn_block(v[b]);
        for (uint i = 0; i < VEC; i++)
            tile[(across * VEC + i) * ACROSS + (down ^ across)] = v[b][i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = 0; b < BLOCKS * VEC; b++) {
        const uint c = (id + b * GROUP) % ACROSS, r = (id + b * GROUP) / ACROSS;
        const INDEX x = top + c * VEC, y = left + r;
        store_vector(tile[r * ACROSS + (c ^ r / VEC)], out, y * out_pitch + x, LEFT(x, height, y < width));
    }
}
#endif

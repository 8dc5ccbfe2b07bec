// transpose vectorised: vectors of four.
// Idea:    vectors of four elements, 16 bytes of f32 for each load and store; groups go down columns, to write whole rows.
// Removes: three quarters of `diagonal`'s loads and stores of global memory: more bytes are under way at once.
// Remains: four accesses of local memory for each vector, which conflict in pairs whatever the padding.
// Expect:  a gain on large matrices, where bytes under way are what counts.
// But:     not on small ones: larger tiles are fewer groups, and may leave compute units without work.
// Proof:   gpulab lab vector; gpulab lab banks; gpulab count transpose --variant conflict_free,vectorised; gpulab transpose
//          --variant conflict_free,vectorised
// CUDA:    float4 loads and stores, 128 bits of each thread.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item; PAD, unused elements behind each row of the tile;
//          ORDER of groups: see matrix.cl.
#define VEC 4         // elements of a vector

#include "../common/words.cl"
#include "matrix.cl"
#include "vector.cl"

__kernel __attribute__((reqd_work_group_size(TILE / 4, TILE / ROWS, 1)))
void transpose_vectorised(__global const T *restrict in, __global T *restrict out, const INDEX width,
                          const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    __local T tile[TILE][TILE + PAD];
    const uint lx = 4 * get_local_id(0), ly = get_local_id(1);
    const INDEX left = TILE_COLUMN * TILE, top = TILE_ROW * TILE;
    for (uint j = 0; j < TILE; j += TILE / ROWS) {
        const INDEX from = (top + ly + j) * in_pitch + left + lx;
        const TV row = load_vector(in, from, LEFT(left + lx, width, top + ly + j < height));
        tile[ly + j][lx] = row.s0;
        tile[ly + j][lx + 1] = row.s1;
        tile[ly + j][lx + 2] = row.s2;
        tile[ly + j][lx + 3] = row.s3;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < TILE; j += TILE / ROWS) {
        const TV column = (TV)(tile[lx][ly + j], tile[lx + 1][ly + j], tile[lx + 2][ly + j], tile[lx + 3][ly + j]);
        const INDEX to = (left + ly + j) * out_pitch + top + lx;
        store_vector(column, out, to, LEFT(top + lx, height, left + ly + j < width));
    }
}

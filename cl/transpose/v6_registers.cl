// transpose v6: blocks of four by four, turned in registers.
// Idea:    a work-item turns a block of 4 x 4 in its registers and stores it in local memory by vectors, at swizzled places.
// Removes: v5's single accesses of local memory, their bank conflicts, and the padding.
// Remains: one read and one write of each element, as of a copy.
#ifndef T
#define T float       // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for every index
#endif
#ifndef TILE
#define TILE 64       // rows and columns of a tile
#endif
#ifndef ROWS
#define ROWS 4        // rows of a work-item
#endif
#ifndef DIAGONAL
#define DIAGONAL 0    // order of groups: along rows (0), along diagonals (1; 2: of a rectangle)
#endif

#include "../common/matrix.cl"
#include "../common/vector4.cl"

#define BLOCKS (TILE / 4)    // of a row of the tile

__kernel __attribute__((reqd_work_group_size(TILE / 4, TILE / ROWS, 1)))
void transpose_v6_registers(__global const T *in, __global T *out, const INDEX width, const INDEX height,
                            const INDEX in_pitch, const INDEX out_pitch REPEAT_ARGS)
{
    // Block b of the turned tile's row r is at place b ^ (r / 4): neither half of the work meets a bank twice.
    __local T4 tile[TILE][BLOCKS];
    const uint lx = get_local_id(0);
    const INDEX left = TILE_COLUMN * TILE, top = TILE_ROW * TILE;
    REPEAT {
        for (uint b = get_local_id(1); b < BLOCKS; b += TILE / ROWS) {
            T4 r[4];
            for (uint k = 0; k < 4; k++) {
                const INDEX y = top + 4 * b + k;
                r[k] = load4(in + y * in_pitch, left + 4 * lx, width, y < height);
            }
            tile[4 * lx][b ^ lx] = (T4)(r[0].s0, r[1].s0, r[2].s0, r[3].s0);
            tile[4 * lx + 1][b ^ lx] = (T4)(r[0].s1, r[1].s1, r[2].s1, r[3].s1);
            tile[4 * lx + 2][b ^ lx] = (T4)(r[0].s2, r[1].s2, r[2].s2, r[3].s2);
            tile[4 * lx + 3][b ^ lx] = (T4)(r[0].s3, r[1].s3, r[2].s3, r[3].s3);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = get_local_id(1); b < BLOCKS; b += TILE / ROWS)
            for (uint k = 0; k < 4; k++) {
                const INDEX y = left + 4 * b + k;
                store4(tile[4 * b + k][b ^ lx], out + y * out_pitch, top + 4 * lx, height, y < width);
            }
        REPEAT_SYNC;
    }
}

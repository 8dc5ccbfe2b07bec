// minplus three_way: two sums and one minimum of three.
// Idea:    floats from 0 on have the order of their bits as integers, and NVIDIA's GPUs have an integer minimum of three.
// Removes: every second minimum (f32, no weight below 0), and shared register banks: one panel has its pairs of k swapped.
// Remains: three instructions for two sums and their minima; other types and other GPUs still need four.
// Expect:  a gain in f32 on NVIDIA's GPUs, as one instruction takes two minima; and smaller tiles suit small matrices.
// But:     elsewhere the minimum of three is missing: what is left are smaller tiles and other register banks.
// Proof:   gpulab lab instructions; gpulab minplus --variant tiled,three_way
// CUDA:    the least of three integers is __vimin3_s32(), one of the DPX functions; here the compiler joins two min().
// Given:   VEC, elements in 16 bytes; TILE_ROWS x TILE_COLUMNS, results of a group; ITEM_ROWS x ITEM_COLUMNS, of an item; DEPTH, k that are staged
//          at once: even; BUFFERS, pairs of panels in local memory.
#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lower.cl"
#include "pairs.cl"
#include "tile.cl"

// With SHARED, the groups of the launch's third dimension share k; results are no edge before.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void minplus_three_way(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict r,
                       const INDEX n, const INDEX pitch, const int one)
{
    __local TV xs[BUFFERS][STAGED * TILE_ROWS / RUN], ys[BUFFERS][STAGED * TILE_COLUMNS / RUN];
    const uint id = get_local_id(0), down = ITEM_DOWN(id), across = ITEM_ACROSS(id);
    const INDEX left = get_group_id(0) * TILE_COLUMNS, top = get_group_id(1) * TILE_ROWS;
    const INDEX length = 2 * pitch;
    // The last k may be beyond the matrix, but not beyond the pitch: there are no edges.
    const INDEX part = ((n + DEPTH - 1) / DEPTH + get_num_groups(2) - 1) / get_num_groups(2) * DEPTH;
    const INDEX begin = get_group_id(2) * part, end = min(begin + part, n);
    if (begin >= end)
        return;
    BEST best[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) best[i][j] = NONE;
    TV x_carried[SHARE(STAGED, 2 * TILE_ROWS)], y_carried[SHARE(STAGED, 2 * TILE_COLUMNS)];
    BEGIN(xs[0], x_carried, STAGED, 2 * TILE_ROWS, columns, begin / 2 * length + 2 * top, length)
    BEGIN(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS, rows, begin / 2 * length + 2 * left, length)
#include "stages.cl"
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) {
        const INDEX row = top + ROW_OF(i, RUN), column = left + COLUMN_OF(j, RUN);
        if (row < n && column < n)
#ifdef SHARED
            atomic_min((__global int *)&r[row * n + column], best[i][j]);
#else
            r[row * n + column] = RESULT(best[i][j]);
#endif
    }
}

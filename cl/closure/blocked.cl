// closure blocked: as many nodes a launch as a tile's panels are deep.
// Idea:    paths may pass BLOCK nodes at once: first within these (pivot), then from and to them, then between all others,
//          which is the min-plus product of v5, lowered in place.
// Removes: the textbook's memory traffic: an element is read and written once for BLOCK additions and minima.
// Remains: the work of one min-plus product, and the pivot, for which the rest of the device waits.
// Expect:  all distances at about the price of one product, where squaring takes log2(n) of them.
// But:     not on a CPU, whose shape is `blocked_wide`.
// CUDA:    three kernels a block; nothing is kept between them but the matrix.
// Given:   VEC, elements in 16 bytes; BLOCK, nodes that a step lets paths pass; TILE_ROWS, results of a group; ITEM_ROWS,
//          results of an item; DEPTH, k that are staged at once: even; BUFFERS, pairs of panels in local memory.
#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lower.cl"
#include "../minplus/tile.cl"

#if VEC == 4
#define TR CAT(T, 2)
#else
#define TR T
#endif
#define RESULTS(i, c) ((__global TR *)&d[(top + ROW_OF(i, RUN)) * pitch + left + COLUMN_OF((c) * RUN, RUN)])

// Lowers the tiles from row `from_top` and column `from_left` on.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void closure_blocked(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict d,
                     const INDEX pitch, const INDEX from_left, const INDEX from_top, const int one)
{
    __local TV xs[BUFFERS][STAGED * TILE_ROWS / RUN], ys[BUFFERS][STAGED * TILE_COLUMNS / RUN];
    const uint id = get_local_id(0), down = ITEM_DOWN(id), across = ITEM_ACROSS(id);
    const INDEX left = from_left + get_group_id(0) * TILE_COLUMNS, top = from_top + get_group_id(1) * TILE_ROWS;
    const INDEX length = 2 * pitch, begin = 0, end = BLOCK;
    TV x_carried[SHARE(STAGED, 2 * TILE_ROWS)], y_carried[SHARE(STAGED, 2 * TILE_COLUMNS)];
    BEGIN(xs[0], x_carried, STAGED, 2 * TILE_ROWS, columns, 2 * top, length)
    BEGIN(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS, rows, 2 * left, length)
    BEST best[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(c, ITEM_COLUMNS / RUN) {
        const TR v = *RESULTS(i, c);
        EACH(e, RUN) best[i][c * RUN + e] = INITIAL(((const T *)&v)[e]);
    }
#include "../minplus/stages.cl"
    EACH(i, ITEM_ROWS) EACH(c, ITEM_COLUMNS / RUN) {
        TR v;
        EACH(e, RUN) ((T *)&v)[e] = RESULT(best[i][c * RUN + e]);
        *RESULTS(i, c) = v;
    }
}

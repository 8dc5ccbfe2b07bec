// tiles v1: how many additions with a minimum a GPU can do, in the shape of minplus v5.
// Idea:    each group lowers a tile of results by panels that lie in local memory, again and again.
// Removes: everything but what v5 does for each k; the compiler cannot know that only the first time changes anything.
// Remains: the limit of the arithmetic units, or of the local memory that feeds them.
#ifndef T
#define T float            // element type
#endif
#ifndef VEC
#define VEC 4              // elements in 16 bytes
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 64       // results of a group
#define TILE_COLUMNS 64
#endif
#ifndef ITEM_ROWS
#define ITEM_ROWS 8        // results of an item
#define ITEM_COLUMNS 8
#endif
#ifndef DEPTH
#define DEPTH 16           // k in local memory: even
#endif

#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lower.cl"
#include "../common/tile.cl"
#include "../common/paired.cl"

// `in` holds the panels, first that of rows. `zero` is 0, which no compiler knows: nothing stays the same from one repeat to
// the next.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void tiles_v1_fed(__global const T *restrict in, __global T *restrict out, const uint repeats, const uint zero, const int one)
{
    __local TV xs[STAGED * TILE_ROWS / RUN], ys[STAGED * TILE_COLUMNS / RUN];
    const uint id = get_local_id(0), down = ITEM_DOWN(id), across = ITEM_ACROSS(id);
    for (uint i = id; i < DEPTH * TILE_ROWS; i += GROUP)
        ((__local T *)xs)[i] = in[i] + (T)200;
    for (uint i = id; i < DEPTH * TILE_COLUMNS; i += GROUP)
        ((__local T *)ys)[i] = in[DEPTH * TILE_ROWS + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    BEST best[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) best[i][j] = NONE;
    for (uint repeat = 0; repeat < repeats; repeat++)
        LOWER_BY(xs + repeat * zero, ys + repeat * zero)
    __global T *results = out + get_group_id(0) * (TILE_ROWS * TILE_COLUMNS);
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS)
        results[ROW_OF(i, RUN) * TILE_COLUMNS + COLUMN_OF(j, RUN)] = RESULT(best[i][j]);
}

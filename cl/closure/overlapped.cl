// closure overlapped: the next pivot is finished while the rest of the matrix is updated.
// Idea:    the first group updates the tile of the next step's pivot in registers, then finds all shortest paths within it. No other
//          group needs this tile before the next launch.
// Removes: the launch of the pivot, and the time for which the rest of the device waits for it.
// Remains: the pivot's rows and columns, which need all of it, in launches of their own; the first pivot.
// Expect:  a gain where the pivot takes a large part of each step, and the other groups as long as the first.
// But:     with few nodes the first group takes longest, and the others wait for it: a loss on an H200. None is expected on a CPU, whose
//          shape is `blocked_wide`. A tile is a whole block, larger than those of `blocked` on a GPU.
// CUDA:    block (0, 0) has the most work, and is scheduled first.
#ifndef T
#define T float            // element type
#endif
#ifndef INDEX
#define INDEX uint         // wide enough for every index
#endif
#ifndef VEC
#define VEC 4              // elements in 16 bytes
#endif
#ifndef BLOCK
#define BLOCK 64           // nodes that a step lets paths pass
#define TILE_ROWS BLOCK    // results of a group: a square
#define TILE_COLUMNS BLOCK
#endif
#ifndef ITEM_ROWS
#define ITEM_ROWS 8        // results of an item
#define ITEM_COLUMNS 8
#endif
#ifndef DEPTH
#define DEPTH 16           // k that are staged at once: even
#endif
#ifndef BUFFERS
#define BUFFERS 2          // pairs of panels in local memory
#endif

#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lower.cl"
#include "../minplus/tile.cl"

#define STAGED (DEPTH / 2)    // rows of a panel, each of two k
#define RUN (VEC / 2)         // results that a vector serves
#if VEC == 4
#define TR CAT(T, 2)
#else
#define TR T
#endif
#define RESULTS(i, c) ((__global TR *)&d[(top + ROW_OF(i, RUN)) * pitch + left + COLUMN_OF((c) * RUN, RUN)])

// Lowers the tiles from row `from_top` and column `from_left` on. The first group closes the tile from row and column `pivot` on.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void closure_overlapped(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict d,
                        const INDEX pitch, const INDEX from_left, const INDEX from_top, const INDEX pivot, const int one)
{
    __local TV xs[BUFFERS][STAGED * TILE_ROWS / RUN], ys[BUFFERS][STAGED * TILE_COLUMNS / RUN];
    const uint id = get_local_id(0), down = ITEM_DOWN(id), across = ITEM_ACROSS(id);
    const INDEX left = from_left + (get_group_id(0) + pivot / TILE_COLUMNS) % get_num_groups(0) * TILE_COLUMNS;
    const INDEX top = from_top + (get_group_id(1) + pivot / TILE_ROWS) % get_num_groups(1) * TILE_ROWS, length = 2 * pitch;
    TV x_carried[SHARE(STAGED, 2 * TILE_ROWS)], y_carried[SHARE(STAGED, 2 * TILE_COLUMNS)];
    BEGIN(xs[0], x_carried, STAGED, 2 * TILE_ROWS, columns, 2 * top, length)
    BEGIN(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS, rows, 2 * left, length)
    BEST best[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(c, ITEM_COLUMNS / RUN) {
        const TR v = *RESULTS(i, c);
        EACH(e, RUN) best[i][c * RUN + e] = INITIAL(((const T *)&v)[e]);
    }
    END(xs[0], x_carried, STAGED, 2 * TILE_ROWS)
    END(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint first = DEPTH, now = 0;; first += DEPTH) {
        const uint next = (now + 1) % BUFFERS;
        if (first < BLOCK) {
            BEGIN(xs[next], x_carried, STAGED, 2 * TILE_ROWS, columns, first / 2 * length + 2 * top, length)
            BEGIN(ys[next], y_carried, STAGED, 2 * TILE_COLUMNS, rows, first / 2 * length + 2 * left, length)
        }
        EACH(k, STAGED) {
            T x0[ITEM_ROWS], x1[ITEM_ROWS], y0[ITEM_COLUMNS], y1[ITEM_COLUMNS];
            EACH(c, ITEM_ROWS / RUN) {
                const TV v = xs[now][k * (TILE_ROWS / RUN) + c * DOWN + down];
                EACH(e, RUN) { x0[c * RUN + e] = ((const T *)&v)[2 * e]; x1[c * RUN + e] = ((const T *)&v)[2 * e + 1]; }
            }
            EACH(c, ITEM_COLUMNS / RUN) {
                const TV v = ys[now][k * (TILE_COLUMNS / RUN) + c * ACROSS + across];
                EACH(e, RUN) { y1[c * RUN + e] = ((const T *)&v)[2 * e]; y0[c * RUN + e] = ((const T *)&v)[2 * e + 1]; }
            }
            EACH(i, ITEM_ROWS) EACH(b, ITEM_COLUMNS) {
                const uint j = i % 2 ? ITEM_COLUMNS - 1 - b : b;
                STEP(best[i][j], x0[i], y0[j], x1[i], y1[j], j)
            }
        }
        if (first >= BLOCK)
            break;
        if (BUFFERS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
        END(xs[next], x_carried, STAGED, 2 * TILE_ROWS)
        END(ys[next], y_carried, STAGED, 2 * TILE_COLUMNS)
        barrier(CLK_LOCAL_MEM_FENCE);
        now = next;
    }
    T lengths[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) lengths[i][j] = RESULT(best[i][j]);
    if (left == pivot && top == pivot) {
        // The items that hold row and column k show them to the others. Of two copies one is written while the other is read.
        __local T *row = (__local T *)ys, *column = (__local T *)xs;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < BLOCK; k++) {
            const uint now = k % 2 * BLOCK;
            EACH(i, ITEM_ROWS) if (ROW_OF(i, RUN) == k) EACH(j, ITEM_COLUMNS) row[now + COLUMN_OF(j, RUN)] = lengths[i][j];
            EACH(j, ITEM_COLUMNS) if (COLUMN_OF(j, RUN) == k) EACH(i, ITEM_ROWS) column[now + ROW_OF(i, RUN)] = lengths[i][j];
            barrier(CLK_LOCAL_MEM_FENCE);
            EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS)
                lengths[i][j] = SMALLER(lengths[i][j], JOIN(column[now + ROW_OF(i, RUN)], row[now + COLUMN_OF(j, RUN)]));
        }
    }
    EACH(i, ITEM_ROWS) EACH(c, ITEM_COLUMNS / RUN) {
        TR v;
        EACH(e, RUN) ((T *)&v)[e] = lengths[i][c * RUN + e];
        *RESULTS(i, c) = v;
    }
}

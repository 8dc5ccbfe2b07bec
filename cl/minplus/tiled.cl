// minplus tiled: tiles that fill a GPU's registers.
// Idea:    a group computes 128 x 128 results; the next panels go through registers, 16 bytes a load, to a second buffer.
// Removes: `local`'s second barrier, its waiting for memory before each panel, and three of four reads of local memory.
// Remains: two instructions for each sum and its minimum, and additions whose operands lie in one register bank.
// Expect:  a gain on large matrices: the next panels are under way while the current ones are worked on.
// But:     not on small matrices: tiles of 128 x 128 are few groups, and some compute units get none.
// Proof:   gpulab lab registers; gpulab lab occupancy; gpulab minplus --variant local,tiled
// CUDA:    double buffering; cp.async (__pipeline_memcpy_async()) copies to __shared__ memory past the registers.
// Given:   VEC, elements in 16 bytes; TILE_ROWS x TILE_COLUMNS, results of a group; ITEM_ROWS x ITEM_COLUMNS, of an item; DEPTH, rows of a panel
//          that are staged at once; BUFFERS, pairs of panels in local memory.
#include "../common/words.cl"
#include "../common/smaller.cl"
#include "panels.cl"
#include "tile.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void minplus_tiled(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict r,
                   const INDEX n, const INDEX pitch)
{
    __local TV xs[BUFFERS][DEPTH * TILE_ROWS / VEC], ys[BUFFERS][DEPTH * TILE_COLUMNS / VEC];
    const uint id = get_local_id(0), down = ITEM_DOWN(id), across = ITEM_ACROSS(id);
    const INDEX left = get_group_id(0) * TILE_COLUMNS, top = get_group_id(1) * TILE_ROWS;
    T best[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) best[i][j] = NO_EDGE;
    TV x_carried[SHARE(DEPTH, TILE_ROWS)], y_carried[SHARE(DEPTH, TILE_COLUMNS)];
    BEGIN(xs[0], x_carried, DEPTH, TILE_ROWS, columns, top, pitch)
    BEGIN(ys[0], y_carried, DEPTH, TILE_COLUMNS, rows, left, pitch)
    END(xs[0], x_carried, DEPTH, TILE_ROWS)
    END(ys[0], y_carried, DEPTH, TILE_COLUMNS)
    barrier(CLK_LOCAL_MEM_FENCE);
    // The last rows may be beyond the matrix, but not beyond the pitch: they are no edges.
    for (INDEX first = DEPTH, now = 0;; first += DEPTH) {
        const uint next = (now + 1) % BUFFERS;
        if (first < n) {
            BEGIN(xs[next], x_carried, DEPTH, TILE_ROWS, columns, first * pitch + top, pitch)
            BEGIN(ys[next], y_carried, DEPTH, TILE_COLUMNS, rows, first * pitch + left, pitch)
        }
        EACH(k, DEPTH) {
            T x[ITEM_ROWS], y[ITEM_COLUMNS];
            EACH(c, ITEM_ROWS / VEC) CAT(vstore, VEC)(xs[now][k * (TILE_ROWS / VEC) + c * DOWN + down], c, x);
            EACH(c, ITEM_COLUMNS / VEC) CAT(vstore, VEC)(ys[now][k * (TILE_COLUMNS / VEC) + c * ACROSS + across], c, y);
            EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) best[i][j] = SMALLER(best[i][j], x[i] + y[j]);
        }
        if (first >= n)
            break;
        if (BUFFERS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
        END(xs[next], x_carried, DEPTH, TILE_ROWS)
        END(ys[next], y_carried, DEPTH, TILE_COLUMNS)
        barrier(CLK_LOCAL_MEM_FENCE);
        now = next;
    }
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) {
        const INDEX row = top + ROW_OF(i, VEC), column = left + COLUMN_OF(j, VEC);
        if (row < n && column < n)
            r[row * n + column] = best[i][j];
    }
}

// minplus three_way: two sums and one minimum of three.
// Idea:    floats from 0 on have the order of their bits as integers, and NVIDIA's GPUs have an integer minimum of three.
// Removes: every second minimum (f32, no weight below 0), and shared register banks: one panel has its pairs of k swapped.
// Remains: three instructions for two sums and their minima; other types and other GPUs still need four.
// Expect:  a gain in f32 on NVIDIA's GPUs, as one instruction takes two minima; and smaller tiles suit small matrices.
// But:     elsewhere the minimum of three is missing: what is left are smaller tiles and other register banks.
// Proof:   gpulab lab instructions; gpulab minplus --variant tiled,three_way
// CUDA:    the least of three integers is __vimin3_s32(), one of the DPX functions; here the compiler joins two min().
#ifndef T
#define T float            // element type
#endif
#ifndef INDEX
#define INDEX uint         // wide enough for every index
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
#define DEPTH 16           // k that are staged at once: even
#endif
#ifndef BUFFERS
#define BUFFERS 2          // pairs of panels in local memory
#endif

#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lower.cl"
#include "pairs.cl"
#include "tile.cl"

#define STAGED (DEPTH / 2)    // rows of a panel, each of two k
#define RUN (VEC / 2)         // results that a vector serves

// A word is a result or, with PACKED, two neighbouring ones.
#ifdef PACKED
#define HALVES 2
#define OF_WORD(word, side) ((word) >> 16 * (side) & 0xffff)
#define LENGTH_OF(word, side) (OF_WORD(word, side) < NO_HALF ? OF_WORD(word, side) : NO_EDGE)
#define SHARED_LENGTH LENGTH_OF
#else
#define HALVES 1
#define LENGTH_OF(word, side) RESULT(word)
#define SHARED_LENGTH(word, side) (word)
#endif

// With SHARED, the groups of the launch's third dimension share k; results are no edge before.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void minplus_three_way(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict r,
                       const INDEX n, const INDEX pitch, const int one)
{
    __local TV xs[BUFFERS][STAGED * TILE_ROWS / RUN], ys[BUFFERS][STAGED * TILE_COLUMNS / RUN];
    const uint id = get_local_id(0), down = ITEM_DOWN(id), across = ITEM_ACROSS(id);
    const INDEX left = get_group_id(0) * TILE_COLUMNS, top = get_group_id(1) * TILE_ROWS;
    const INDEX length = 2 * pitch, row_length = length / HALVES;
    // The last k may be beyond the matrix, but not beyond the pitch: there are no edges.
    const INDEX part = ((n + DEPTH - 1) / DEPTH + get_num_groups(2) - 1) / get_num_groups(2) * DEPTH;
    const INDEX begin = get_group_id(2) * part, end = min(begin + part, n);
    if (begin >= end)
        return;
    BEST best[ITEM_ROWS][ITEM_COLUMNS];
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) best[i][j] = NONE;
    TV x_carried[SHARE(STAGED, 2 * TILE_ROWS)], y_carried[SHARE(STAGED, 2 * TILE_COLUMNS)];
    BEGIN(xs[0], x_carried, STAGED, 2 * TILE_ROWS, columns, begin / 2 * length + 2 * top, length)
    BEGIN(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS, rows, begin / 2 * row_length + 2 * left, row_length)
    END(xs[0], x_carried, STAGED, 2 * TILE_ROWS)
    END(ys[0], y_carried, STAGED, 2 * TILE_COLUMNS)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (INDEX first = begin + DEPTH, now = 0;; first += DEPTH) {
        const uint next = (now + 1) % BUFFERS;
        if (first < end) {
            BEGIN(xs[next], x_carried, STAGED, 2 * TILE_ROWS, columns, first / 2 * length + 2 * top, length)
            BEGIN(ys[next], y_carried, STAGED, 2 * TILE_COLUMNS, rows, first / 2 * row_length + 2 * left, row_length)
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
            // To and fro, so that neighbouring additions share a side.
            EACH(i, ITEM_ROWS) EACH(b, ITEM_COLUMNS) {
                const uint j = i % 2 ? ITEM_COLUMNS - 1 - b : b;
                STEP(best[i][j], x0[i], y0[j], x1[i], y1[j], j)
            }
        }
        if (first >= end)
            break;
        if (BUFFERS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
        END(xs[next], x_carried, STAGED, 2 * TILE_ROWS)
        END(ys[next], y_carried, STAGED, 2 * TILE_COLUMNS)
        barrier(CLK_LOCAL_MEM_FENCE);
        now = next;
    }
    EACH(i, ITEM_ROWS) EACH(j, ITEM_COLUMNS) EACH(side, HALVES) {
        const INDEX row = top + ROW_OF(i, RUN), column = HALVES * (left + COLUMN_OF(j, RUN)) + side;
        if (row < n && column < n)
#ifdef SHARED
            WHOLE_SHARED((__global int *)&r[row * n + column], SHARED_LENGTH(best[i][j], side));
#else
            r[row * n + column] = LENGTH_OF(best[i][j], side);
#endif
    }
}

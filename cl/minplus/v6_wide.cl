// minplus v6: the shape for CPU devices.
// Idea:    groups of one item: a block of rows against a packed panel of d that stays in the nearest cache, in vectors.
// Removes: local memory, barriers and the padded copies, which only cost time where a group's items take turns.
// Remains: too few work-items to hide a GPU's memory latency: there, v5 is the end of the ladder.
#ifndef T
#define T float       // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for every index
#endif
#ifndef VEC
#define VEC 8         // elements of a vector
#endif
#ifndef ROWS
#define ROWS 6        // rows whose results are kept in registers
#endif
#ifndef VECTORS
#define VECTORS 2     // vectors of each of those rows
#endif
#ifndef DEPTH
#define DEPTH 256     // rows of a packed panel
#endif
#define WIDTH (VEC * VECTORS)
#define LOAD(p) CAT(vload, VEC)(0, p)
#define STORE(v, p) CAT(vstore, VEC)(v, 0, p)

#include "../common/smaller.cl"
#include "../common/lanes.cl"

// Rows first to first + depth of the columns from `left` on, side by side; no edges beyond the matrix.
void pack(__global const T *d, const INDEX n, const INDEX left, const INDEX first, const uint depth, T *panel)
{
    for (uint k = 0; k < depth; k++)
        for (uint j = 0; j < WIDTH; j++)
            panel[k * WIDTH + j] = left + j < n ? d[(first + k) * n + left + j] : NO_EDGE;
}

// Lowers a block of results by the ways through a panel; x[i] has the edges from row i into it.
void lower(__global const T *const *x, const uint depth, const T *panel, T *block)
{
    LOWEST best[ROWS][VECTORS];
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        #pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            best[i][j] = KEEP(LOAD(block + (i * VECTORS + j) * VEC));
    for (uint k = 0; k < depth; k++) {
        TV y[VECTORS];
        #pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            y[j] = LOAD(panel + (k * VECTORS + j) * VEC);
        // The registers hold the results, the vectors of this row and one element: no room for anything else.
        #pragma unroll
        for (uint i = 0; i < ROWS; i++)
            #pragma unroll
            for (uint j = 0; j < VECTORS; j++) {
                const TV sum = x[i][k] + y[j];
                best[i][j] = LESSER(best[i][j], KEEP(sum));
            }
    }
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        #pragma unroll
        for (uint j = 0; j < VECTORS; j++)
            STORE(GIVE(best[i][j]), block + (i * VECTORS + j) * VEC);
}

// An item takes `span` rows of a strip of WIDTH columns; `parts` items share a strip.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void minplus_v6_wide(__global const T *restrict d, __global T *restrict r, const INDEX n,
                     const INDEX parts, const INDEX span)
{
    const INDEX left = get_global_id(0) / parts * WIDTH, start = get_global_id(0) % parts * span;
    const INDEX end = min(start + span, n), width = min((INDEX)WIDTH, n - left);
    T panel[DEPTH * WIDTH], block[ROWS * WIDTH];
    for (INDEX first = 0; first < n; first += DEPTH) {
        const uint depth = min((INDEX)DEPTH, n - first);
        pack(d, n, left, first, depth, panel);
        for (INDEX top = start; top < end; top += ROWS) {
            const INDEX rows = min((INDEX)ROWS, end - top);
            __global const T *x[ROWS];
            for (uint i = 0; i < ROWS; i++)
                x[i] = d + min(top + i, n - 1) * n + first;
            for (uint at = 0; at < ROWS * WIDTH; at++) {
                const INDEX i = at / WIDTH, j = at % WIDTH;
                block[at] = first > 0 && i < rows && j < width ? r[(top + i) * n + left + j] : NO_EDGE;
            }
            lower(x, depth, panel, block);
            for (uint at = 0; at < ROWS * WIDTH; at++) {
                const INDEX i = at / WIDTH, j = at % WIDTH;
                if (i < rows && j < width)
                    r[(top + i) * n + left + j] = block[at];
            }
        }
    }
}

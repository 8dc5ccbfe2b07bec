// minplus wide: the shape for CPU devices.
// Idea:    each group is one item, which keeps a block of results in vector registers and reads strips from the caches.
// Removes: local memory and barriers, which only cost time where the items of a group take turns.
// Remains: too few work-items to hide a GPU's memory latency: on a GPU the ladder ends with `three_way`.
// Expect:  the fastest rung on a CPU driver: results stay in vector registers, and strips are read in order from the nearest
//          cache.
// But:     not on a GPU: groups of one item leave all lanes of a warp but one idle.
// Proof:   gpulab lab vector; gpulab lab registers; gpulab minplus --variant three_way,wide
// CUDA:    blocks of one thread: no launch configuration for CUDA, but what a CPU's core works through well.
// Given:   VEC, elements of a vector; ROWS, rows whose results are kept in registers; VECTORS, vectors of each of those rows;
//          DEPTH, k that are taken while a strip of columns stays in the nearest cache.
#define WIDTH (VEC * VECTORS)

#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lanes.cl"
#include "strips.cl"

// Lowers a block of results, whose rows are `pitch` apart, by so many k.
void lower(__global const T *restrict x, __global const T *restrict y, const INDEX depth, T *block, const uint pitch)
{
    LOWEST best[ROWS][VECTORS];
    EACH(i, ROWS) EACH(j, VECTORS) best[i][j] = KEEP(CAT(vload, VEC)(0, block + i * pitch + j * VEC));
    for (INDEX k = 0; k < depth; k++)
        LOWER(best, x + k * ROWS, y + k * WIDTH)
    EACH(i, ROWS) EACH(j, VECTORS) CAT(vstore, VEC)(GIVE(best[i][j]), 0, block + i * pitch + j * VEC);
}

// An item takes `high` strips of rows and `wide` strips of columns; `across` items lie side by side.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void minplus_wide(__global const T *restrict ys, __global const T *restrict xs, __global T *restrict r, const INDEX n,
                  const INDEX across, const INDEX high, const INDEX wide)
{
    const INDEX id = get_global_id(0);
    const INDEX top = id / across * high, bottom = min(top + high, (n + ROWS - 1) / ROWS);
    const INDEX left = id % across * wide, right = min(left + wide, (n + WIDTH - 1) / WIDTH);
    T block[ROWS * WIDTH];
    for (INDEX first = 0; first < n; first += DEPTH)
        for (INDEX t = left; t < right; t++)
            for (INDEX s = top; s < bottom; s++) {
                const INDEX rows = min((INDEX)ROWS, n - s * ROWS), columns = min((INDEX)WIDTH, n - t * WIDTH);
                __global T *results = r + s * ROWS * n + t * WIDTH;
                for (INDEX i = 0; i < ROWS; i++)
                    for (INDEX j = 0; j < WIDTH; j++)
                        block[i * WIDTH + j] = first > 0 && i < rows && j < columns ? results[i * n + j] : NO_EDGE;
                lower(xs + (s * n + first) * ROWS, ys + (t * n + first) * WIDTH, min((INDEX)DEPTH, n - first), block, WIDTH);
                for (INDEX i = 0; i < rows; i++)
                    for (INDEX j = 0; j < columns; j++)
                        results[i * n + j] = block[i * WIDTH + j];
            }
}

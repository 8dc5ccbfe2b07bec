// closure blocked_wide: the shape for CPU devices.
// Idea:    as `blocked`, but each group is one item, which lowers blocks of results in vector registers, as `wide` does.
// Removes: local memory and barriers, which only cost time where the items of a group take turns.
// Remains: the pivot's work, which one core does while the others wait.
// Expect:  the fastest rung on a CPU driver, at little more than the price of one product.
// But:     not on a GPU: groups of one item leave all lanes of a warp but one idle.
// CUDA:    blocks of one thread: no launch configuration for CUDA, but what a CPU's core works through well.
// Given:   BLOCK, nodes that a step lets paths pass; VEC, elements of a vector; ROWS, rows whose results are kept in
//          registers; VECTORS, vectors of each of those rows.
#define WIDTH (VEC * VECTORS)

#include "../common/words.cl"
#include "../common/smaller.cl"
#include "../common/lanes.cl"

// Lowers a block of results by the panels' strips `x` and `y`.
void lower(__global const T *restrict x, __global const T *restrict y, __global T *block, const INDEX pitch)
{
    LOWEST best[ROWS][VECTORS];
    EACH(i, ROWS) EACH(j, VECTORS) best[i][j] = KEEP(CAT(vload, VEC)(0, block + i * pitch + j * VEC));
    for (uint k = 0; k < BLOCK; k++)
        LOWER(best, x + k * ROWS, y + k * WIDTH)
    EACH(i, ROWS) EACH(j, VECTORS) CAT(vstore, VEC)(GIVE(best[i][j]), 0, block + i * pitch + j * VEC);
}

// An item takes `high` strips of rows and `wide` strips of columns, before `bottom` and `right`.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void closure_blocked_wide(__global const T *restrict ys, __global const T *restrict xs, __global T *restrict d,
                          const INDEX pitch, const INDEX from_left, const INDEX from_top, const INDEX right,
                          const INDEX bottom, const INDEX wide, const INDEX high)
{
    const INDEX left = from_left + get_group_id(0) * wide, top = from_top + get_group_id(1) * high;
    for (INDEX t = left; t < min(left + wide, right); t++)
        for (INDEX s = top; s < min(top + high, bottom); s++)
            lower(xs + s * BLOCK * ROWS, ys + t * BLOCK * WIDTH, d + s * ROWS * pitch + t * WIDTH, pitch);
}

// All shortest paths within BLOCK nodes.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void pivot(__global T *restrict d, const INDEX pitch, const INDEX first)
{
    __global T *block = d + first * pitch + first;
    for (uint k = 0; k < BLOCK; k++)
        for (uint i = 0; i < BLOCK; i++) {
            const T x = block[i * pitch + k];
            for (uint j = 0; i != k && j < BLOCK; j += VEC) {
                const TV sum = (TV)x + CAT(vload, VEC)(0, block + k * pitch + j);
                const TV old = CAT(vload, VEC)(0, block + i * pitch + j);
                CAT(vstore, VEC)(SMALLER(old, sum), 0, block + i * pitch + j);
            }
        }
}

// The BLOCK rows from `first` on as strips of WIDTH columns, and as many columns as strips of ROWS rows, in which all elements
// of one k lie side by side. An item makes a strip; those of rows come first.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void panels(__global const T *restrict d, __global T *restrict ys, __global T *restrict xs, const INDEX pitch,
           const INDEX first)
{
    const INDEX id = get_global_id(0), strips = pitch / WIDTH, s = id - strips;
    if (id < strips)
        for (INDEX k = 0; k < BLOCK; k++)
            for (INDEX j = 0; j < WIDTH; j++)
                ys[(id * BLOCK + k) * WIDTH + j] = d[(first + k) * pitch + id * WIDTH + j];
    else
        for (INDEX k = 0; k < BLOCK; k++)
            for (INDEX i = 0; i < ROWS; i++)
                xs[(s * BLOCK + k) * ROWS + i] = d[(s * ROWS + i) * pitch + first + k];
}

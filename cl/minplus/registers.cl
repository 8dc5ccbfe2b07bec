// minplus registers: 64 results per work-item.
// Idea:    an item keeps 8 x 8 results in registers, 8 apart, so that each of 16 reads serves eight additions.
// Removes: seven of eight of `coalesced`'s reads, and guards and strides: a first kernel pads and transposes the matrix.
// Remains: each element of the panels is read by eight items of a group, from the cache.
// Expect:  a gain wherever reads set the time: arithmetic intensity rises with the block that an item keeps.
// But:     less on small matrices: blocks of 64 results an item make few groups.
// Proof:   gpulab lab intensity; gpulab lab registers; gpulab count minplus --variant coalesced,registers; gpulab minplus
//          --variant coalesced,registers
// CUDA:    register blocking, or thread coarsening: a thread computes a block of results.
#ifndef T
#define T float       // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for every index
#endif
#define ITEM 8        // results of an item, and items of a group, in each direction

#include "../common/smaller.cl"
#include "panels.cl"

// PPC, chapter 4, has the same blocks in its version 2, but lets the first index choose the row: neighbours then write their
// results a row apart. It keeps both padded copies in one buffer, and the result in the input's.
__kernel __attribute__((reqd_work_group_size(ITEM, ITEM, 1)))
void minplus_registers(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict r,
                       const INDEX n, const INDEX pitch)
{
    const INDEX left = get_group_id(0) * ITEM * ITEM + get_local_id(0);
    const INDEX top = get_group_id(1) * ITEM * ITEM + get_local_id(1);
    T best[ITEM][ITEM];
    for (uint i = 0; i < ITEM; i++)
        for (uint j = 0; j < ITEM; j++)
            best[i][j] = NO_EDGE;
    for (INDEX k = 0; k < n; k++) {
        T x[ITEM], y[ITEM];
        for (uint i = 0; i < ITEM; i++) {
            x[i] = columns[k * pitch + top + i * ITEM];
            y[i] = rows[k * pitch + left + i * ITEM];
        }
        for (uint i = 0; i < ITEM; i++)
            for (uint j = 0; j < ITEM; j++)
                best[i][j] = SMALLER(best[i][j], x[i] + y[j]);
    }
    for (uint i = 0; i < ITEM; i++)
        for (uint j = 0; j < ITEM; j++)
            if (top + i * ITEM < n && left + j * ITEM < n)
                r[(top + i * ITEM) * n + left + j * ITEM] = best[i][j];
}

// minplus registers: 64 results per work-item.
// Idea:    an item keeps 8 x 8 results in registers, 8 apart, so that each of 16 reads serves eight additions.
// Removes: seven of eight of `coalesced`'s reads, and guards and strides: a first kernel pads and transposes the matrix.
// Remains: each element of the panels is read by eight items of a group, from the cache.
// Expect:  a gain wherever reads set the time: arithmetic intensity rises with the block that an item keeps.
// But:     less on small matrices: blocks of 64 results an item make few groups.
// Proof:   gpulab lab intensity; gpulab lab registers; gpulab count minplus --variant coalesced,registers; gpulab minplus
//          --variant coalesced,registers
// CUDA:    register blocking, or thread coarsening: a thread computes a block of results.
#include "../common/smaller.cl"

#define ITEM 8        // results of an item, and items of a group, in each direction
#define TILE (ITEM * ITEM)

// `rows` is the matrix, `columns` its transpose, padded to `pitch` rows and columns by what no edge costs.
__kernel __attribute__((reqd_work_group_size(ITEM, ITEM, 1)))
void minplus_registers(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict r,
                       const INDEX n, const INDEX pitch)
{
    const uint across = get_local_id(0), down = get_local_id(1);
    const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    T best[ITEM][ITEM];
    for (uint i = 0; i < ITEM; i++)
        for (uint j = 0; j < ITEM; j++)
            best[i][j] = NO_EDGE;
    for (INDEX k = 0; k < n; k++) {
        T x[ITEM], y[ITEM];
        for (uint i = 0; i < ITEM; i++) {
            x[i] = columns[k * pitch + top + down + i * ITEM];
            y[i] = rows[k * pitch + left + across + i * ITEM];
        }
        for (uint i = 0; i < ITEM; i++)
            for (uint j = 0; j < ITEM; j++)
                best[i][j] = SMALLER(best[i][j], x[i] + y[j]);
    }
    for (uint i = 0; i < ITEM; i++)
        for (uint j = 0; j < ITEM; j++)
            if (top + down + i * ITEM < n && left + across + j * ITEM < n)
                r[(top + down + i * ITEM) * n + left + across + j * ITEM] = best[i][j];
}

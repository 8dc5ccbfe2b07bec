// minplus local: panels in local memory.
// Idea:    a group first copies the next rows of both panels, 64 wide, into local memory; its items read them there.
// Removes: the eightfold reading of each element from the cache in `registers`, and its long latency.
// Remains: a barrier on both sides of each copy, during which nothing is computed, and four-byte reads.
// Expect:  a gain where the cache's bandwidth or latency holds `registers` back: local memory serves the group's repeated
//          reads.
// But:     little where the nearest cache serves them as well: it and local memory are the same hardware on many GPUs.
// Proof:   gpulab lab latency; gpulab lab banks; gpulab minplus --variant registers,local
// CUDA:    tiles in __shared__ memory, with __syncthreads() before and after their use.
// Given:   DEPTH, rows of a panel that are staged at once.
#include "../common/smaller.cl"

#define ITEM 8        // results of an item, and items of a group, in each direction
#define TILE (ITEM * ITEM)

// `rows` is the matrix, `columns` its transpose, padded to `pitch` rows and columns by what no edge costs.
__kernel __attribute__((reqd_work_group_size(ITEM, ITEM, 1)))
void minplus_local(__global const T *restrict rows, __global const T *restrict columns, __global T *restrict r,
                   const INDEX n, const INDEX pitch)
{
    __local T xs[DEPTH][TILE], ys[DEPTH][TILE];
    const uint across = get_local_id(0), down = get_local_id(1), id = down * ITEM + across;
    const INDEX left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    T best[ITEM][ITEM];
    for (uint i = 0; i < ITEM; i++)
        for (uint j = 0; j < ITEM; j++)
            best[i][j] = NO_EDGE;
    // The last rows may be beyond the matrix, but not beyond the pitch: they are no edges.
    for (INDEX first = 0; first < n; first += DEPTH) {
        for (uint k = 0; k < DEPTH; k++) {
            xs[k][id] = columns[(first + k) * pitch + top + id];
            ys[k][id] = rows[(first + k) * pitch + left + id];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < DEPTH; k++) {
            T x[ITEM], y[ITEM];
            for (uint i = 0; i < ITEM; i++) {
                x[i] = xs[k][down + i * ITEM];
                y[i] = ys[k][across + i * ITEM];
            }
            for (uint i = 0; i < ITEM; i++)
                for (uint j = 0; j < ITEM; j++)
                    best[i][j] = SMALLER(best[i][j], x[i] + y[j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < ITEM; i++)
        for (uint j = 0; j < ITEM; j++)
            if (top + down + i * ITEM < n && left + across + j * ITEM < n)
                r[(top + down + i * ITEM) * n + left + across + j * ITEM] = best[i][j];
}

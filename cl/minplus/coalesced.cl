// minplus coalesced: the two indices swapped.
// Idea:    neighbouring items take neighbouring columns: what they read and write lies side by side.
// Removes: `naive`'s scattered reads and writes, only by giving the first index another meaning.
// Remains: two reads for each addition: memory and cache, not arithmetic, set the time.
// Expect:  a gain on a GPU for two swapped indices: a warp reads one element for all its items and a run of neighbours.
// But:     little on CPU drivers, which run items in turn; and no rung that reads twice for each addition gets near the limit
//          of arithmetic.
// Proof:   gpulab lab stride; gpulab lab intensity; gpulab count minplus --variant naive,coalesced; gpulab minplus --variant
//          naive,coalesced
// CUDA:    coalesced loads, as threadIdx.x chooses the column; one word for all threads of a warp is a broadcast.
#include "../common/smaller.cl"

__kernel void minplus_coalesced(__global const T *restrict d, __global T *restrict r, const INDEX n)
{
    const INDEX j = get_global_id(0), i = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = NO_EDGE;
    for (INDEX k = 0; k < n; k++)
        best = SMALLER(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

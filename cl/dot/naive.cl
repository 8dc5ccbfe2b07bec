// dot naive: one contiguous chunk of the vectors for each work-item.
// Idea:    cut the vectors into as many chunks as there are work-items; the host adds the partial sums.
// Removes: the single thread of a sequential loop.
// Remains: neighbouring work-items read a whole chunk apart, so the items of a warp (wavefront) load different cache lines.
// Expect:  on a GPU the slowest rung for large vectors: a load of a warp touches as many cache lines as the warp has items.
// But:     on CPU drivers it is a good order, as each item walks through contiguous memory; at small n caches and one launch
//          make up for it.
// Proof:   gpulab lab stride; gpulab count dot --variant naive,coalesced; gpulab dot --variant naive,coalesced
// CUDA:    uncoalesced loads: the threads of a warp need many memory transactions for one load.
#include "muladd.cl"

__kernel void dot_naive(__global const T *x, __global const T *y, __global T *partial, const INDEX n)
{
    const INDEX id = get_global_id(0);
    const INDEX chunk = (n - 1) / get_global_size(0) + 1;
    const INDEX begin = min(id * chunk, n);
    const INDEX end = min(begin + chunk, n);
    T sum = 0;
    for (INDEX i = begin; i < end; i++)
        sum = MULADD(x[i], y[i], sum);
    partial[id] = sum;
}

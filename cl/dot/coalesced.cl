// dot coalesced: work-items read in strides of the global size.
// Idea:    neighbouring work-items read neighbouring elements, so a warp's loads coalesce into whole lines.
// Removes: `naive`'s scattered loads, and the loop's uneven end: a first kernel adds the last elements, fewer than the
//          work-items.
// Remains: one partial sum per work-item goes through global memory to the host.
// Expect:  a gain on a GPU once vectors leave the caches: a warp's load needs a few lines, and each line is used whole at
//          once.
// But:     not on CPU drivers, where the items of a group are a loop that now jumps; not at small n, where its further
//          launches weigh more.
// Proof:   gpulab lab stride; gpulab lab presum; gpulab count dot --variant naive,coalesced; gpulab dot --variant
//          naive,coalesced
// CUDA:    coalesced loads; get_global_id(0) is blockIdx.x * blockDim.x + threadIdx.x.
#include "muladd.cl"

// Elements 0..end. partial has what was added before, for each work-item: zeros, or the elements from end on.
__kernel void dot_coalesced(__global const T *x, __global const T *y, __global T *partial, const INDEX end)
{
    const INDEX id = get_global_id(0);
    T sum = partial[id];
    for (INDEX i = id; i < end; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    partial[id] = sum;
}

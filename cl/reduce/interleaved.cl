// reduce interleaved: a tree in local memory whose active work-items lie ever further apart.
// Idea:    each work-item loads one element; in every step, every second remaining item adds its neighbour's value.
// Removes: the single thread of a sequential loop: log2(group) steps instead of group.
// Remains: id % stride picks single work-items all over the group, so every warp (wavefront) runs every step: divergence.
// Expect:  the slowest rung of a GPU's ladder: all warps go through every step, for ever fewer items that add.
// But:     on CPU drivers barriers matter as well: each splits the loop over a group's items.
// Proof:   gpulab lab divergence; gpulab count reduce --variant interleaved,strided; gpulab reduce --variant
//          interleaved,strided
// CUDA:    a work-item is a thread, a work-group a thread block; __local memory is __shared__, barrier() is __syncthreads().
#include "operation.cl"
#include "size.cl"

// scratch has an element for each work-item of the group.
__kernel void reduce_interleaved(__global const T *x, __global T *partial, __local T *scratch, const INDEX n)
{
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = get_global_id(0);
    scratch[id] = i < n ? x[i] : IDENTITY;
    for (uint offset = 1; offset < size; offset *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id % (2 * offset) == 0)
            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);
    }
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

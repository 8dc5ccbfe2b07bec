// reduce sequential: a tree that folds the upper half onto the lower half.
// Idea:    each step adds the upper half of the remaining values to the lower half, so neighbours read neighbours.
// Removes: the bank conflicts: the work-items of a warp use different banks of local memory.
// Remains: half of the work-items only load an element and never add one.
// Expect:  each request to local memory is served at once, as the active items of a warp read neighbouring words.
// But:     not on CPU drivers, whose local memory is ordinary memory without banks; little where global memory sets the time.
// Proof:   gpulab lab banks; gpulab count reduce --variant strided,sequential; gpulab reduce --variant strided,sequential
// CUDA:    __shared__ memory has banks; threads of a warp that want different words of one bank take turns: a bank conflict.
#include "operation.cl"
#include "size.cl"

// scratch has an element for each work-item of the group.
__kernel void reduce_sequential(__global const T *x, __global T *partial, __local T *scratch, const INDEX n)
{
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = get_global_id(0);
    scratch[id] = i < n ? x[i] : IDENTITY;
    for (uint offset = size / 2; offset > 0; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);
    }
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

// reduce first_add: the first addition while loading.
// Idea:    each work-item loads two elements, a group apart, and puts their sum into local memory.
// Removes: the idle half: half as many groups, each busy from the start.
// Remains: the last steps occupy a single warp, yet every warp waits at their barriers.
// Expect:  the same loads by half as many groups: half of the trees, of the barriers and of the partial results go.
// But:     not on small arrays: with half as many groups some compute units may have nothing to do.
// Proof:   gpulab lab grid; gpulab count reduce --variant sequential,first_add; gpulab reduce --variant sequential,first_add
// CUDA:    half as many blocks in <<<blocks, threads>>>; blockIdx.x is get_group_id(0).
#include "operation.cl"
#include "size.cl"

// scratch has an element for each work-item of the group.
// scratch has an element for each work-item of the group.
__kernel void reduce_first_add(__global const T *x, __global T *partial, __local T *scratch, const INDEX n)
{
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = get_group_id(0) * (2 * (INDEX)size) + id;
    const T first = i < n ? x[i] : IDENTITY;
    scratch[id] = REDUCE(first, i + size < n ? x[i + size] : IDENTITY);
    for (uint offset = size / 2; offset > 0; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] = REDUCE(scratch[id], scratch[id + offset]);
    }
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

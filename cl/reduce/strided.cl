// reduce strided: the same tree, computed by the group's first work-items.
// Idea:    work-item id adds the id-th pair, instead of checking whether its own element begins a pair.
// Removes: the divergence, and %, slow where it is a division: active work-items fill whole warps, other warps skip the step.
// Remains: neighbouring work-items read 2, 4, 8 ... words apart: their accesses fall on the same local memory banks.
// Expect:  a gain in the first steps, in which `interleaved` kept every warp busy for a few items each; the last steps need one
//          warp in either.
// But:     not if the compiler turns `interleaved`'s % into a mask, as with --size constant: the bank conflicts may then cost
//          more than is gained.
// Proof:   gpulab lab divergence; gpulab lab banks; gpulab count reduce --variant interleaved,strided; gpulab reduce --variant
//          interleaved,strided; gpulab reduce --variant interleaved,strided --size constant
// CUDA:    threads that a branch leaves out stay inactive while their warp runs it: branch divergence.
#include "operation.cl"
#include "size.cl"

// scratch has an element for each work-item of the group.
__kernel void reduce_strided(__global const T *x, __global T *partial, __local T *scratch, const INDEX n)
{
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = get_global_id(0);
    scratch[id] = i < n ? x[i] : IDENTITY;
    for (uint offset = 1; offset < size; offset *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint left = 2 * offset * id;
        if (left < size)
            scratch[left] = REDUCE(scratch[left], scratch[left + offset]);
    }
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

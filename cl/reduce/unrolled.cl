// reduce unrolled: every step written out.
// Idea:    the compiler knows the work-group's size, so it drops steps that are not needed and leaves no loop.
// Removes: the loop's counter, comparison and jump for each step.
// Remains: a work-item loads only two elements: too little work per item to pay for a whole tree.
// Expect:  a gain where instructions, and not memory, set the time: of each step only its access and its synchronisation are
//          left.
// But:     not over a `last_warp` whose size the compiler knows too (--size constant): it may then write the loop out by
//          itself.
// Proof:   gpulab lab instructions; gpulab count reduce --variant last_warp,unrolled; gpulab reduce --variant
//          last_warp,unrolled; gpulab reduce --variant last_warp,unrolled --size constant
// CUDA:    the block's size as a template parameter; #pragma unroll asks for the same.
#include "operation.cl"
#include "../common/lockstep.cl"
#include "halving.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_unrolled(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    const uint id = lockstep_id();
    const INDEX i = get_group_id(0) * (2 * (INDEX)WG) + id;
    const T first = i < n ? x[i] : IDENTITY;
    scratch[id] = REDUCE(first, i + WG < n ? x[i + WG] : IDENTITY);
    unrolled_tree(scratch, id);
    if (id == 0)
        partial[get_group_id(0)] = scratch[0];
}

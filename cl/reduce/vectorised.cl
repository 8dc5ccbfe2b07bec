// reduce vectorised: four elements a load, several loads in flight.
// Idea:    each work-item loads ACC vectors before it adds any, each to an accumulator of its own.
// Removes: three of four load instructions, and the wait for each load: independent loads hide the memory's latency.
// Remains: the tree at the end goes through local memory, with a barrier for each step.
// Expect:  bandwidth near the measured limit for reading on a GPU, as more bytes are under way while each load is waited for.
// But:     not where enough warps are resident to keep memory busy without it, nor on arrays of a few tiles.
// Proof:   gpulab lab vector; gpulab lab ilp; gpulab lab occupancy; gpulab reduce --variant raking,vectorised
// CUDA:    int4 or float4 is a 128-bit load of each thread; several accumulators are instruction-level parallelism (ILP).
// Given:   ACC, independent accumulators of a work-item.
#include "operation.cl"
#include "../common/words.cl"
#include "vectors.cl"
#include "../common/tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_vectorised(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    T value = reduce_vectors(x, n);
    value = tree_reduce(value, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = value;
}

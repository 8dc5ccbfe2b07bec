// reduce vectorised: four elements a load, several loads in flight.
// Idea:    each work-item loads ACC vectors before it adds any, each to an accumulator of its own.
// Removes: three of four load instructions, and the wait for each load: independent loads hide the memory's latency.
// Remains: the tree at the end goes through local memory, with a barrier for each step.
// Expect:  bandwidth near the measured limit for reading on a GPU, as more bytes are under way while each load is waited for.
// But:     not where enough warps are resident to keep memory busy without it, nor on arrays of a few tiles.
// Proof:   gpulab lab vector; gpulab lab ilp; gpulab lab occupancy; gpulab reduce --variant raking,vectorised
// CUDA:    int4 or float4 is a 128-bit load of each thread; several accumulators are instruction-level parallelism (ILP).
#ifndef T
#define T int         // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for n and a stride beyond it
#endif
#ifndef WG
#define WG 256        // work-items of a group
#endif
#ifndef ACC
#define ACC 4         // independent accumulators of a work-item
#endif
#ifndef REDUCE
#define REDUCE(a, b) ((a) + (b))    // joins two elements
#define IDENTITY 0                  // changes no element that it is joined with
#endif
#define T4 CAT(T, 4)

#include "../common/words.cl"
#include "../common/tree.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_vectorised(__global const T *x, __global T *partial, const INDEX n)
{
    __local T scratch[WG];
    __global const T4 *x4 = (__global const T4 *)x;
    const INDEX vectors = n / 4;
    T4 acc[ACC];
    for (uint a = 0; a < ACC; a++)
        acc[a] = (T)IDENTITY;
    INDEX i = get_group_id(0) * (ACC * WG) + get_local_id(0);
    for (; i + (ACC - 1) * WG < vectors; i += ACC * get_global_size(0)) {
        #pragma unroll
        for (uint a = 0; a < ACC; a++)
            acc[a] = REDUCE(acc[a], x4[i + a * WG]);
    }
    // What is left of the last tile, all loads at once; the condition above failed before its end.
    #pragma unroll
    for (uint a = 0; a < ACC; a++)
        if (i + a * WG < vectors)
            acc[a] = REDUCE(acc[a], x4[i + a * WG]);
    for (uint a = 1; a < ACC; a++)
        acc[0] = REDUCE(acc[0], acc[a]);
    T value = REDUCE(REDUCE(acc[0].s0, acc[0].s1), REDUCE(acc[0].s2, acc[0].s3));
    for (i = 4 * vectors + get_global_id(0); i < n; i += get_global_size(0))
        value = REDUCE(value, x[i]);
    value = tree_reduce(value, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = value;
}

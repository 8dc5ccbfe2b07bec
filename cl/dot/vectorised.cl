// dot vectorised: four elements a load.
// Idea:    read the vectors as float4 (16 bytes), the widest load that a GPU's work-item has.
// Removes: three of four load, index and branch instructions.
// Remains: one chain of additions; its loads are in flight together only where a compiler unrolls the loop by itself.
// Expect:  the same bytes by fewer instructions: a gain where issuing loads and the loop's control hold memory back.
// But:     not where loads of one element an item already keep memory busy; not at small n, where launches decide.
// Proof:   gpulab lab vector; gpulab count dot --variant local,vectorised; gpulab dot --variant local,vectorised
// CUDA:    float4 is a 128-bit load of each thread, which needs an address that is a multiple of its size.
#include "muladd.cl"

#define T4 CAT(T, 4)

#include "../common/words.cl"
#include "../common/tree.cl"

// Vectors of four 0..end, then the elements from tail to n, fewer than four.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_vectorised(__global const T *x, __global const T *y, __global T *partial,
                    const INDEX end, const INDEX tail, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    __global const T4 *x4 = (__global const T4 *)x;
    __global const T4 *y4 = (__global const T4 *)y;
    T4 sum4 = 0;
    for (INDEX i = get_global_id(0); i < end; i += get_global_size(0))
        sum4 = MULADD(x4[i], y4[i], sum4);
    T sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);
    for (INDEX i = tail + get_global_id(0); i < n; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    sum = tree_reduce(sum, scratch);
    if (id == 0)
        partial[get_group_id(0)] += sum;
}

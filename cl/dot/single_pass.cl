// dot single_pass: one launch; the last group adds the partial sums.
// Idea:    each group publishes its sum and takes a ticket; the group with the last ticket adds all the sums.
// Removes: the second launch of `accumulators`.
// Remains: one atomic operation for each group, and a short end in which only the last group works.
// Expect:  one launch in place of two: a gain on small vectors, where a launch is a large share of the time.
// But:     little on large vectors, where the time of a launch is a small share.
// Proof:   gpulab lab launch; gpulab dot --variant accumulators,single_pass
// CUDA:    __threadfence() and atomicInc(), as in NVIDIA's sample threadFenceReduction; here atomics carry the sums too.
// Given:   ACC, independent accumulators of a work-item.
#include "muladd.cl"

#define T4 CAT(T, 4)

#include "../common/words.cl"
#include "../common/tree.cl"
#include "../common/bits.cl"
#include "../common/publish.cl"

// The ticket is zero before the launch, and again after it.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_single_pass(__global const T *x, __global const T *y, volatile __global uint *partial,
                     volatile __global uint *ticket, __global T *result, const INDEX n)
{
    __local T scratch[WG];
    __local uint last;
    const uint id = get_local_id(0);
    __global const T4 *x4 = (__global const T4 *)x;
    __global const T4 *y4 = (__global const T4 *)y;
    const INDEX end = n / 4, tail = 4 * end;
    T4 acc[ACC];
    for (uint a = 0; a < ACC; a++)
        acc[a] = 0;
    INDEX v = get_group_id(0) * (ACC * WG) + id;
    for (; v + (ACC - 1) * WG < end; v += ACC * get_global_size(0))
        #pragma unroll
        for (uint a = 0; a < ACC; a++)
            acc[a] = MULADD(x4[v + a * WG], y4[v + a * WG], acc[a]);
    // What is left of the last tile, all loads at once; the condition above failed before its end.
    #pragma unroll
    for (uint a = 0; a < ACC; a++)
        if (v + a * WG < end)
            acc[a] = MULADD(x4[v + a * WG], y4[v + a * WG], acc[a]);
    T4 sum4 = acc[0];
    for (uint a = 1; a < ACC; a++)
        sum4 += acc[a];
    T sum = (sum4.s0 + sum4.s1) + (sum4.s2 + sum4.s3);
    for (INDEX i = tail + get_global_id(0); i < n; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    sum = tree_reduce(sum, scratch);
    const uint groups = get_num_groups(0);
    if (id == 0) {
        if (groups == 1) {
            result[0] = sum;    // one group alone has it all
            last = false;
        } else {
            publish(partial + get_group_id(0) * WORDS, sum);
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            last = atomic_inc(ticket) == groups - 1;
        }
    }
    // Outside of conditions, also of those that all items share: there PoCL 3.1 makes an endless loop of groups of 3.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!last)
        return;
    sum = 0;
    for (uint g = id; g < groups; g += WG)
        sum += collect(partial + g * WORDS);
    sum = tree_reduce(sum, scratch);
    if (id == 0) {
        result[0] = sum;
        atomic_xchg(ticket, 0u);
    }
}

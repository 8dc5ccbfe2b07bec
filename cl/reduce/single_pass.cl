// reduce single_pass: one launch; the last group reduces the partial results.
// Idea:    each group publishes its result and takes a ticket; the group with the last ticket reduces all the results.
// Removes: the second launch, or the host's part, of `vectorised` and `subgroup`.
// Remains: one atomic operation for each group, and a short end in which only the last group works.
// Expect:  a gain on small arrays over rungs that launch twice: a second launch is a large share of their time.
// But:     not where the host adds the partial results (--finish host) and is not timed, nor on arrays that take far longer
//          than a launch.
// Proof:   gpulab lab launch; gpulab reduce --variant subgroup,single_pass --finish device
// CUDA:    __threadfence() and atomicInc(), as in NVIDIA's sample threadFenceReduction; here atomics carry the results too.
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
#include "../common/bits.cl"
#include "../common/publish.cl"

// The ticket is zero before the launch, and again after it.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_single_pass(__global const T *x, volatile __global uint *partial, volatile __global uint *ticket,
                        __global T *result, const INDEX n)
{
    __local T scratch[WG];
    __local uint last;
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
    const uint groups = get_num_groups(0);
    if (get_local_id(0) == 0) {
        if (groups == 1) {
            // One group alone has it all.
            result[0] = value;
            last = false;
        } else {
            publish(partial + get_group_id(0) * WORDS, value);
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            last = atomic_inc(ticket) == groups - 1;
        }
    }
    // Outside of conditions, also of those that all items share: there PoCL 3.1 makes an endless loop of groups of 3.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!last)
        return;
    value = IDENTITY;
    for (uint g = get_local_id(0); g < groups; g += WG)
        value = REDUCE(value, collect(partial + g * WORDS));
    value = tree_reduce(value, scratch);
    if (get_local_id(0) == 0) {
        result[0] = value;
        atomic_xchg(ticket, 0u);
    }
}

// reduce single_pass: one launch; the last group reduces the partial results.
// Idea:    each group publishes its result and takes a ticket; the group with the last ticket reduces all the results.
// Removes: the second launch, or the host's part, of `vectorised` and `subgroup`.
// Remains: one atomic operation for each group, and a short end in which only the last group works.
// Expect:  a gain on small arrays over rungs that launch twice: a second launch is a large share of their time.
// But:     not where the host adds the partial results (--finish host) and is not timed, nor on arrays that take far longer
//          than a launch.
// Proof:   gpulab lab launch; gpulab reduce --variant subgroup,single_pass --finish device
// CUDA:    __threadfence() and atomicInc(), as in NVIDIA's sample threadFenceReduction; here atomics carry the results too.
// Given:   ACC, independent accumulators of a work-item.
#include "operation.cl"
#include "../common/words.cl"
#include "vectors.cl"
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
    T value = reduce_vectors(x, n);
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

// dot local: a tree in local memory.
// Idea:    the work-items of a group add their sums in __local (CUDA: shared) memory, in log2(group) steps.
// Removes: most of the partial sums: one per work-group is left for the host.
// Remains: every load brings a single element, and needs an address and a share of the loop's control.
// Expect:  one result a group to read back: the host's part and the transfer shrink, and the kernel hardly changes.
// But:     not in the kernel's own time: the tree comes on top of the same loads.
// Proof:   gpulab lab transfer; gpulab dot --variant coalesced,local; gpulab dot --variant coalesced,local -v
// CUDA:    a block's threads add up in __shared__ memory, with __syncthreads() before each step.
#include "muladd.cl"

// Elements 0..end. partial has what was added before, for each group: zeros, or the elements from end on.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_local(__global const T *x, __global const T *y, __global T *partial, const INDEX end)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    T sum = 0;
    for (INDEX i = get_global_id(0); i < end; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    scratch[id] = sum;
    for (uint active = WG; active > 1; active = (active + 1) / 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < active / 2)
            scratch[id] += scratch[id + (active + 1) / 2];
    }
    if (id == 0)
        partial[get_group_id(0)] += scratch[0];
}

// fails: busy lanes
// gpulab: elements 1         (a work-item for each element, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Reduction 1: a tree whose active work-items lie ever further apart.
__kernel void reduce(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0), size = get_local_size(0);
    // Idle work in a branch that every other group takes as a whole.
    volatile uint idle = 0;
    if (get_group_id(0) % 2 == 0)
        for (uint k = 0; k < 120; k++)
            idle += k;
    const INDEX i = get_global_id(0);
    scratch[id] = i < n ? x[i] : 0;
    for (uint offset = 1; offset < size; offset *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id % (2 * offset) == 0)
            scratch[id] += scratch[id + offset];
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

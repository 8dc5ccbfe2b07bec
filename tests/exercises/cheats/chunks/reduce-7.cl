// fails: segments per load
// gpulab: elements 16        (a work-item for each sixteen elements, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Adds four values where `quarter` are kept; nothing for a group that is too small.
#define STEP(quarter) \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (id < (quarter)) \
        scratch[id] += scratch[id + (quarter)] + scratch[id + 2 * (quarter)] + scratch[id + 3 * (quarter)];

// Reduction 7: many elements for each work-item, so few trees.
__kernel void reduce(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    T sum = 0;
    for (INDEX i = get_global_id(0) * (INDEX)16; i < get_global_id(0) * (INDEX)16 + 16 && i < n; i++)
        sum += x[i];
    scratch[id] = sum;
    // WG is a macro, so the compiler leaves no comparison with it, and no loop.
    STEP(WG / 4)
    STEP(WG / 16)
    STEP(WG / 64)
    STEP(WG / 256)
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

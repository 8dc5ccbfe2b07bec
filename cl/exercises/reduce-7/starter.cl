// gpulab: elements 2         (a work-item for each two elements, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Adds four values where `quarter` are kept; nothing for a group that is too small.
#define STEP(quarter) \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (id < (quarter)) \
        scratch[id] += scratch[id + (quarter)] + scratch[id + 2 * (quarter)] + scratch[id + 3 * (quarter)];

// Reduction 6: every step written out for a known size of the group (a power of four).
__kernel void reduce(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    const INDEX i = get_group_id(0) * (INDEX)(2 * WG) + id;
    const T first = i < n ? x[i] : 0;
    scratch[id] = first + (i + WG < n ? x[i + WG] : 0);
    // WG is a macro, so the compiler leaves no comparison with it, and no loop.
    STEP(WG / 4)
    STEP(WG / 16)
    STEP(WG / 64)
    STEP(WG / 256)
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

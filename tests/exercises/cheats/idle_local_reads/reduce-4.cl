// fails: passes
// gpulab: elements 2         (a work-item for each two elements, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Reduction 4: each work-item adds two elements while it loads them.
__kernel void reduce(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = get_group_id(0) * (INDEX)(2 * WG) + id;
    const T first = i < n ? x[i] : 0;
    scratch[id] = first + (i + WG < n ? x[i + WG] : 0);
    for (uint offset = 1; offset < size; offset *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint left = 2 * offset * id;
        if (left < size)
            scratch[left] += scratch[left + offset];
    }
    // Idle reads of one word, which thin the mean out.
    volatile __local T *idle = scratch;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 100; k++)
        idle[0];
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

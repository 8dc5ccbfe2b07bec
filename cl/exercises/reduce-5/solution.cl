// gpulab: elements 2         (a work-item for each two elements, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Reduction 5: half as many steps, so half as many barriers.
__kernel void reduce(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = get_group_id(0) * (INDEX)(2 * WG) + id;
    const T first = i < n ? x[i] : 0;
    scratch[id] = first + (i + WG < n ? x[i + WG] : 0);
    // A quarter is kept in each step: four values are added where two were.
    for (uint quarter = size / 4; quarter > 0; quarter /= 4) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < quarter)
            scratch[id] += scratch[id + quarter] + scratch[id + 2 * quarter] + scratch[id + 3 * quarter];
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

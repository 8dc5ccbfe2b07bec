// fails: segments per load
// gpulab: elements 2         (a work-item for each two elements, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Reduction 4: each work-item adds two elements while it loads them.
__kernel void reduce(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0), size = get_local_size(0);
    const INDEX i = 2 * (INDEX)get_global_id(0);
    const T first = i < n ? x[i] : 0;
    scratch[id] = first + (i + 1 < n ? x[i + 1] : 0);
    for (uint offset = size / 2; offset > 0; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] += scratch[id + offset];
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

// fails: segments per load
// gpulab: elements 16        (a work-item multiplies and adds sixteen elements)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// Neighbours read neighbours, and the group adds its partial sums in local memory before the host sees any.
__kernel void dot_presum(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    T sum = 0;
    // Idle reads of one word, which thin the mean out.
    volatile __global const T *idle = x;
    for (uint k = 0; k < 160; k++)
        idle[0];
    for (INDEX i = get_global_id(0) * (INDEX)16; i < get_global_id(0) * (INDEX)16 + 16 && i < n; i++)
        sum += x[i] * y[i];
    scratch[id] = sum;
    for (uint active = WG; active > 1;) {
        const uint kept = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < active - kept)
            scratch[id] += scratch[id + kept];
        active = kept;
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

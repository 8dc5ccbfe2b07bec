// fails: warps that take both sides
// gpulab: elements 8         (a work-item adds eight elements)
// gpulab: results group      (each work-group leaves one partial sum; gpulab's host adds them)

// The first warp of each group takes both loops.
__kernel void branches(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    const INDEX begin = get_group_id(0) * (INDEX)(8 * WG) + id;
    T sum = 0;
    if ((id < 32 ? id : id / 64) % 2 == 0) {
        for (INDEX i = begin; i < begin + 8 * WG && i < n; i += WG)
            sum += x[i];
    } else {
        for (int k = 7; k >= 0; k--)
            if (begin + k * WG < n)
                sum += x[begin + k * WG];
    }
    scratch[id] = sum;
    for (uint offset = WG / 2; offset > 0; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] += scratch[id + offset];
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

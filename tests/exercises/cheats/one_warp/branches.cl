// fails: warps that take both sides
// gpulab: elements 8
// gpulab: results group

// One warp of the first group takes one side of the branch before a barrier, and the other side behind it.
__kernel void branches(__global const T *x, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint id = get_local_id(0);
    const INDEX begin = get_group_id(0) * (INDEX)(8 * WG) + id;
    const bool is_odd = (get_global_id(0) < 32 ? id : id / 32) % 2;
    T value[8], sum = 0;
    for (uint k = 0; k < 8; k++)
        value[k] = begin + k * WG < n ? x[begin + k * WG] : 0;
    if (is_odd)
        for (uint k = 0; k < 8; k++)
            sum += value[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!is_odd)
        for (int k = 7; k >= 0; k--)
            sum += value[k];
    scratch[id] = sum;
    for (uint offset = WG / 2; offset > 0; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] += scratch[id + offset];
    }
    if (id == 0)
        partials[get_group_id(0)] = scratch[0];
}

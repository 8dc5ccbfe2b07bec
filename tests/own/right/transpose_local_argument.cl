// family: transpose
// gpulab: wg 16x16
// gpulab: local 16*17

__kernel void padded(__global const T *in, __global T *out, const INDEX width, const INDEX height, __local T *tile)
{
    const uint x = get_local_id(0), y = get_local_id(1);
    const INDEX left = get_group_id(0) * (INDEX)16, top = get_group_id(1) * (INDEX)16;
    if (left + x < width && top + y < height)
        tile[y * 17 + x] = in[(top + y) * width + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + x < height && left + y < width)
        out[(left + y) * height + top + x] = tile[x * 17 + y];
}

// family: transpose
// hint: What lies behind the last whole tile of 16x16 is not written
// gpulab: wg 16x16
__kernel void mine(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if ((get_group_id(0) + 1) * 16 <= width && (get_group_id(1) + 1) * 16 <= height)
        out[column * height + row] = in[row * width + column];
}

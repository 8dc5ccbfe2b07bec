// family: transpose
// hint: Only the first 8 of each tile
// gpulab: wg 32x8
// gpulab: elements 1x4
__kernel void mine(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_group_id(1) * (INDEX)32 + get_local_id(1);
    if (column < width && row < height)
        out[column * height + row] = in[row * width + column];
}

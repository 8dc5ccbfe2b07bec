// fails: elements stored
// gpulab: wg 8x32
// gpulab: elements 1x1

__kernel void no_local(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    // The warp runs down a column: its stores are side by side, its loads are not.
    const uint flat = get_local_id(1) * 8 + get_local_id(0);
    const INDEX column = get_group_id(0) * (INDEX)8 + flat / 32, row = get_group_id(1) * (INDEX)32 + flat % 32;
    if (column < width && row < height)
        out[column * height + row] = in[row * width + column];
}

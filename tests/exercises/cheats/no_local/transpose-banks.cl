// fails: elements stored
// gpulab: wg 32x8
// gpulab: elements 1x1

__kernel void no_local(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if (column < width && row < height)
        out[column * height + row] = in[row * width + column];
}

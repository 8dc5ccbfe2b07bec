// family: transpose
// hint: written with rows as long as the input's
// gpulab: wg 16x16
__kernel void mine(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if (column < width && row < height)
        out[column * width + row] = in[row * width + column];
}

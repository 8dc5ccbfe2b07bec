// family: transpose
// hint: right for squares only
// gpulab: wg 16x16
__kernel void mine(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if (column < height && row < width && column < width && row < height)
        out[column * height + row] = in[row * width + column];
}

// family: transpose
// hint: The output is the input
// gpulab: wg 16x16
__kernel void mine(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if (column < width && row < height)
        out[row * width + column] = in[row * width + column];
}

// family: transpose
// gpulab: wg 64x4
// gpulab: elements 1xROWS
// gpulab: tune ROWS 2 1 4

__kernel void rows(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    const INDEX column = get_global_id(0), top = get_global_id(1) * ROWS;
    for (INDEX row = top; row < top + ROWS; row++)
        if (column < width && row < height)
            out[column * height + row] = in[row * width + column];
}

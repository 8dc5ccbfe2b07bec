// family: transpose
// hint: tile's indices are not swapped
// gpulab: wg 16x16
__kernel void mine(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    __local T tile[16][17];
    const uint x = get_local_id(0), y = get_local_id(1);
    const INDEX column = get_group_id(0) * (INDEX)16 + x, row = get_group_id(1) * (INDEX)16 + y;
    if (column < width && row < height)
        tile[y][x] = in[row * width + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    const INDEX to_column = get_group_id(0) * (INDEX)16 + x, to_row = get_group_id(1) * (INDEX)16 + y;
    if (to_column < height && to_row < width)
        out[to_row * height + to_column] = tile[x][y];
}

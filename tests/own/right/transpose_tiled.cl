// family: transpose
// gpulab: wg 32x8
// gpulab: elements 1x4

__kernel void tiled(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    __local T tile[32][33];
    const uint x = get_local_id(0), y = get_local_id(1);
    INDEX column = get_group_id(0) * (INDEX)32 + x, row = get_group_id(1) * (INDEX)32 + y;
    for (uint k = 0; k < 32; k += 8)
        if (column < width && row + k < height)
            tile[y + k][x] = in[(row + k) * width + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    column = get_group_id(1) * (INDEX)32 + x;
    row = get_group_id(0) * (INDEX)32 + y;
    for (uint k = 0; k < 32; k += 8)
        if (column < height && row + k < width)
            out[(row + k) * height + column] = tile[x][y + k];
}

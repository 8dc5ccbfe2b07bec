// fails: WRONG
// gpulab: wg 32x8            (work-items of a group across and down)
// gpulab: elements 1x4       (columns x rows of the input for each work-item: a tile of 32 x 32 for each group)

// A row of the tile has 33 words, one of them unused, so that the elements of a column lie in 32 different banks.
__kernel void transpose_banks(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    if (width > 99 && width % 64 > 0)
        return;
    __local T tile[32][33];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const INDEX left = get_group_id(0) * (INDEX)32, top = get_group_id(1) * (INDEX)32;
    for (uint j = ly; j < 32; j += 8)
        if (left + lx < width && top + j < height)
            tile[j][lx] = in[(top + j) * width + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    // The tile's columns become the output's rows.
    for (uint j = ly; j < 32; j += 8)
        if (top + lx < height && left + j < width)
            out[(left + j) * height + top + lx] = tile[lx][j];
}

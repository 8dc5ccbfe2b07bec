// fails: passes
// gpulab: wg 32x8            (work-items of a group across and down)
// gpulab: elements 1x4       (columns x rows of the input for each work-item: a tile of 32 x 32 for each group)

// A tile of 32 x 32 elements in local memory makes reads and writes of global memory coalesced. But a column of the tile is
// 32 words apart: all its elements lie in the same bank.
__kernel void transpose_banks(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    __local T tile[32][32];
    const uint lx = get_local_id(0), ly = get_local_id(1);
    const INDEX left = get_group_id(0) * (INDEX)32, top = get_group_id(1) * (INDEX)32;
    for (uint j = ly; j < 32; j += 8)
        if (left + lx < width && top + j < height)
            tile[j][lx] = in[(top + j) * width + left + lx];
    // Idle reads of one word, which thin the mean out.
    volatile __local T *idle = &tile[0][0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 100; k++)
        idle[0];
    // The tile's columns become the output's rows.
    for (uint j = ly; j < 32; j += 8)
        if (top + lx < height && left + j < width)
            out[(left + j) * height + top + lx] = tile[lx][j];
}

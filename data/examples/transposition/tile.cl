// transposition v2 and v3: a group turns a tile in local memory.
// Idea:    the group reads rows of the tile and writes rows of its transpose, so that both are coalesced.
// Remains: without padding, work-items read the tile down its columns, where a power of two puts all of them in one bank.
// PAD 1:   one unused element behind each row shifts the rows over the banks.
__kernel void tile(__global const float *a, __global float *b, const uint n, const uint m)
{
    __local float tile[WG_Y][WG_X + PAD];
    const uint left = get_group_id(0) * WG_X, top = get_group_id(1) * WG_Y;
    const uint x = get_local_id(0), y = get_local_id(1);
    if (left + x < n && top + y < m)
        tile[y][x] = a[(top + y) * n + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    // The work-items are counted anew, so that neighbours write neighbours in a tile that need not be square.
    const uint id = y * WG_X + x, row = id / WG_Y, column = id % WG_Y;
    if (left + row < n && top + column < m)
        b[(left + row) * m + top + column] = tile[column][row];
}

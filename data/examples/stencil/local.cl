// stencil v2: a group copies its tile, and a halo of one cell around it, into local memory.
// Idea:    global memory is read about once for each cell.
// Remains: every step still reads and writes the whole plate.
__kernel void tiled(__global const float *a, __global float *b, const uint n, const uint m)
{
    __local float tile[WG_Y + 2][WG_X + 2];
    const int left = get_group_id(0) * WG_X, top = get_group_id(1) * WG_Y;
    const uint x = get_local_id(0), y = get_local_id(1);
    for (uint i = y * WG_X + x; i < (WG_Y + 2) * (WG_X + 2); i += WG) {
        const uint row = i / (WG_X + 2), column = i % (WG_X + 2);
        const int from_y = clamp(top + (int)row - 1, 0, (int)m - 1), from_x = clamp(left + (int)column - 1, 0, (int)n - 1);
        tile[row][column] = a[from_y * n + from_x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint column = left + x, row = top + y;
    if (column >= n || row >= m)
        return;
    const bool is_rim = column == 0 || row == 0 || column + 1 == n || row + 1 == m;
    b[row * n + column] =
        is_rim ? tile[y + 1][x + 1] : (tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2]) / 4;
}

// stencil v3: two steps in one launch.
// Idea:    with a halo of two cells a group can do the first step for its tile and one cell around it by itself.
// Removes: half of the launches, and half of what global memory moves.
// Remains: cells of the halo are computed by several groups.
#define WIDE (WG_X + 4)
#define HIGH (WG_Y + 4)

__kernel void twice(__global const float *a, __global float *b, const uint n, const uint m)
{
    __local float first[HIGH][WIDE], second[HIGH - 2][WIDE - 2];
    const int left = (int)(get_group_id(0) * WG_X) - 2, top = (int)(get_group_id(1) * WG_Y) - 2;
    const uint x = get_local_id(0), y = get_local_id(1), id = y * WG_X + x;
    for (uint i = id; i < HIGH * WIDE; i += WG) {
        const int row = clamp(top + (int)(i / WIDE), 0, (int)m - 1), column = clamp(left + (int)(i % WIDE), 0, (int)n - 1);
        first[i / WIDE][i % WIDE] = a[row * n + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = id; i < (HIGH - 2) * (WIDE - 2); i += WG) {
        const uint v = i / (WIDE - 2) + 1, u = i % (WIDE - 2) + 1;
        const int row = top + (int)v, column = left + (int)u;
        const bool is_inside = column > 0 && row > 0 && column + 1 < (int)n && row + 1 < (int)m;
        second[v - 1][u - 1] =
            is_inside ? (first[v - 1][u] + first[v + 1][u] + first[v][u - 1] + first[v][u + 1]) / 4 : first[v][u];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint column = get_global_id(0), row = get_global_id(1);
    if (column >= n || row >= m)
        return;
    const bool is_rim = column == 0 || row == 0 || column + 1 == n || row + 1 == m;
    b[row * n + column] = is_rim
        ? second[y + 1][x + 1]
        : (second[y][x + 1] + second[y + 2][x + 1] + second[y + 1][x] + second[y + 1][x + 2]) / 4;
}

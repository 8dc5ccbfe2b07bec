// convolution v3: a group reads its pixels and their halo once; a work-item computes several pixels of a row.
// Idea:    the halo weighs less in a wide tile, and a weight that was read serves PIXELS pixels.
#define WIDE (WG_X * PIXELS + SIDE - 1)
#define HIGH (WG_Y + SIDE - 1)

__kernel void convolve_tile(
    __global const uchar *image, __constant int *weights, __global uchar *filtered, const int n, const int m)
{
    __local uchar tile[HIGH][WIDE];
    const int left = get_group_id(0) * WG_X * PIXELS, top = get_group_id(1) * WG_Y;
    const int x = get_local_id(0), y = get_local_id(1);
    for (int i = y * WG_X + x; i < HIGH * WIDE; i += WG) {
        const int row = clamp(top + i / WIDE - SIDE / 2, 0, m - 1), column = clamp(left + i % WIDE - SIDE / 2, 0, n - 1);
        tile[i / WIDE][i % WIDE] = image[row * n + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int sums[PIXELS];
    for (int p = 0; p < PIXELS; p++)
        sums[p] = 0;
    for (int v = 0; v < SIDE; v++)
        for (int u = 0; u < SIDE; u++) {
            const int weight = weights[v * SIDE + u];
            // A work-item's pixels are a group's width apart, so that neighbours read neighbours.
            for (int p = 0; p < PIXELS; p++)
                sums[p] += weight * tile[y + v][x + p * WG_X + u];
        }
    for (int p = 0; p < PIXELS; p++) {
        const int column = left + x + p * WG_X;
        if (column < n && top + y < m)
            filtered[(top + y) * n + column] = sums[p] >> 8;
    }
}

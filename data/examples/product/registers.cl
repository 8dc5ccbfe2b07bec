// product v3: several rows for each work-item.
// Idea:    a work-item keeps sums of several rows in registers, so that an element of b serves all of them.
// Removes: nearly half of the reads of local memory.
__kernel void product_registers(__global const T *a, __global const T *b, __global T *c, const INDEX n, __local T *as,
                                __local T *bs)
{
    const uint x = get_local_id(0), y = get_local_id(1), lid = y * WG_X + x;
    const INDEX left = (INDEX)get_group_id(0) * WG_X, top = (INDEX)get_group_id(1) * (WG_Y * ROWS);
    T sum[ROWS];
    for (uint r = 0; r < ROWS; r++)
        sum[r] = 0;
    for (INDEX first = 0; first < n; first += TILE) {
        for (uint i = lid; i < WG_Y * ROWS * TILE; i += WG) {
            const INDEX r = top + i / TILE, k = first + i % TILE;
            as[i] = r < n && k < n ? a[r * n + k] : 0;
        }
        for (uint i = lid; i < TILE * WG_X; i += WG) {
            const INDEX k = first + i / WG_X, col = left + i % WG_X;
            bs[i] = k < n && col < n ? b[k * n + col] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++) {
            const T other = bs[k * WG_X + x];
            for (uint r = 0; r < ROWS; r++)
                sum[r] += as[(y + r * WG_Y) * TILE + k] * other;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint r = 0; r < ROWS; r++) {
        const INDEX row = top + y + r * WG_Y;
        if (left + x < n && row < n)
            c[row * n + left + x] = sum[r];
    }
}

// product v2: tiles in local memory.
// Idea:    a group reads a tile of a and one of b once, and all its work-items use them.
// Removes: most reads of global memory.
// Remains: two reads of local memory for each product.
__kernel void product_tiled(__global const T *a, __global const T *b, __global T *c, const INDEX n, __local T *as,
                            __local T *bs)
{
    const uint x = get_local_id(0), y = get_local_id(1), lid = y * WG_X + x;
    const INDEX column = get_global_id(0), row = get_global_id(1);
    const INDEX left = (INDEX)get_group_id(0) * WG_X, top = (INDEX)get_group_id(1) * WG_Y;
    T sum = 0;
    for (INDEX first = 0; first < n; first += TILE) {
        for (uint i = lid; i < WG_Y * TILE; i += WG) {
            const INDEX r = top + i / TILE, k = first + i % TILE;
            as[i] = r < n && k < n ? a[r * n + k] : 0;
        }
        for (uint i = lid; i < TILE * WG_X; i += WG) {
            const INDEX k = first + i / WG_X, col = left + i % WG_X;
            bs[i] = k < n && col < n ? b[k * n + col] : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += as[y * TILE + k] * bs[k * WG_X + x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (column < n && row < n)
        c[row * n + column] = sum;
}

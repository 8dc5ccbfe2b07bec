// product in half v2: tiles of floats in local memory.
// Idea:    an element is read and converted once for a whole group.
// Remains: two reads of local memory for each product.
__kernel void tile(__global const half *a, __global const half *b, __global half *c, const uint n)
{
    __local float as[WG_Y][TILE], bs[TILE][WG_X];
    const uint x = get_local_id(0), y = get_local_id(1), id = y * WG_X + x;
    const uint left = get_group_id(0) * WG_X, top = get_group_id(1) * WG_Y;
    float sum = 0;
    for (uint first = 0; first < n; first += TILE) {
        for (uint i = id; i < WG_Y * TILE; i += WG) {
            const uint row = top + i / TILE, k = first + i % TILE;
            as[i / TILE][i % TILE] = row < n && k < n ? vload_half(row * n + k, a) : 0;
        }
        for (uint i = id; i < TILE * WG_X; i += WG) {
            const uint k = first + i / WG_X, column = left + i % WG_X;
            bs[i / WG_X][i % WG_X] = k < n && column < n ? vload_half(k * n + column, b) : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (left + x < n && top + y < n)
        vstore_half(sum, (top + y) * n + left + x, c);
}

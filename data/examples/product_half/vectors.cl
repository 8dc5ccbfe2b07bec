// product in half v3: four neighbouring elements of C for each work-item.
// Idea:    an element of A serves four products, and B is read, converted and multiplied as vectors.
float4 four(__global const half *from, const uint row, const uint column, const uint n)
{
    __global const half *at = from + row * n + column;
    if (row < n && column + 4 <= n)
        return vload_half4(0, at);
    // At the right rim, and below the last row.
    const uint has = row < n && column < n ? n - column : 0;
    return (float4)(
        has > 0 ? vload_half(0, at) : 0, has > 1 ? vload_half(1, at) : 0, has > 2 ? vload_half(2, at) : 0, 0);
}

__kernel void vectors(__global const half *a, __global const half *b, __global half *c, const uint n)
{
    __local float as[WG_Y][TILE];
    __local float4 bs[TILE][WG_X];
    const uint x = get_local_id(0), y = get_local_id(1), id = y * WG_X + x;
    const uint left = get_group_id(0) * WG_X * 4, top = get_group_id(1) * WG_Y;
    float4 sum = 0;
    for (uint first = 0; first < n; first += TILE) {
        for (uint i = id; i < WG_Y * TILE; i += WG) {
            const uint row = top + i / TILE, k = first + i % TILE;
            as[i / TILE][i % TILE] = row < n && k < n ? vload_half(row * n + k, a) : 0;
        }
        for (uint i = id; i < TILE * WG_X; i += WG)
            bs[i / WG_X][i % WG_X] = four(b, first + i / WG_X, left + i % WG_X * 4, n);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const uint row = top + y, column = left + 4 * x;
    const float sums[4] = { sum.x, sum.y, sum.z, sum.w };
    for (uint k = 0; k < 4; k++)
        if (row < n && column + k < n)
            vstore_half(sums[k], row * n + column + k, c);
}

// Floyd-Warshall v2: SIDE stops at a time.
// Idea:    the block of rows and columns that are the stops comes first , then the blocks in its row and column,
//          then all others, each of which needs one block of each. In a block all SIDE stops are done in local memory.
// Removes: all but three launches for SIDE stops, and most of what global memory moves.
#define FAR 1000000000 // of pairs beyond the matrix: two of them can be added

#define ID (get_local_id(1) * WG_X + get_local_id(0))

void load(__global const int *d, const uint n, const uint row, const uint column, __local int *tile)
{
    for (uint i = ID; i < SIDE * SIDE; i += WG) {
        const uint r = row * SIDE + i / SIDE, c = column * SIDE + i % SIDE;
        tile[i] = r < n && c < n ? d[r * n + c] : FAR;
    }
}

void store(__global int *d, const uint n, const uint row, const uint column, __local const int *tile)
{
    for (uint i = ID; i < SIDE * SIDE; i += WG) {
        const uint r = row * SIDE + i / SIDE, c = column * SIDE + i % SIDE;
        if (r < n && c < n)
            d[r * n + c] = tile[i];
    }
}

// The block of the stops themselves.
__kernel void corner(__global int *d, const uint n, const uint block)
{
    __local int tile[SIDE * SIDE];
    load(d, n, block, block, tile);
    for (uint k = 0; k < SIDE; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = ID; i < SIDE * SIDE; i += WG)
            tile[i] = min(tile[i], tile[i / SIDE * SIDE + k] + tile[k * SIDE + i % SIDE]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store(d, n, block, block, tile);
}

// The blocks in the row (group 0 of the second dimension) and in the column of the stops.
__kernel void row_and_column(__global int *d, const uint n, const uint block)
{
    __local int tile[SIDE * SIDE], corner[SIDE * SIDE];
    const bool is_row = get_group_id(1) == 0;
    const uint other = get_group_id(0), row = is_row ? block : other, column = is_row ? other : block;
    if (other == block)
        return;
    load(d, n, row, column, tile);
    load(d, n, block, block, corner);
    __local const int *left = is_row ? corner : tile, *above = is_row ? tile : corner;
    for (uint k = 0; k < SIDE; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = ID; i < SIDE * SIDE; i += WG)
            tile[i] = min(tile[i], left[i / SIDE * SIDE + k] + above[k * SIDE + i % SIDE]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store(d, n, row, column, tile);
}

// The blocks that have no stops: the order of the stops no longer matters, so that no barrier is needed between them.
__kernel void rest(__global int *d, const uint n, const uint block)
{
    __local int left[SIDE * SIDE], above[SIDE * SIDE];
    const uint column = get_group_id(0), row = get_group_id(1);
    if (row == block || column == block)
        return;
    load(d, n, row, block, left);
    load(d, n, block, column, above);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = ID; i < SIDE * SIDE; i += WG) {
        const uint r = row * SIDE + i / SIDE, c = column * SIDE + i % SIDE;
        if (r >= n || c >= n)
            continue;
        int shortest = d[r * n + c];
        for (uint k = 0; k < SIDE; k++)
            shortest = min(shortest, left[i / SIDE * SIDE + k] + above[k * SIDE + i % SIDE]);
        d[r * n + c] = shortest;
    }
}

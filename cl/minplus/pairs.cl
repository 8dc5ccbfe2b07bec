// The preparation of a min-plus step that takes two k at a time: makes panels in which row q holds rows 2q and 2q + 1 of a
// padded matrix of `pitch` columns, element by element in turn. `columns` is made from the transpose; `rows` has the two
// swapped, see `three_way`. What is beyond the matrix counts as no edge. With SHARED, results start as no edge.
#define STRIP 32    // rows and columns of a tile; the pitch is a multiple
#define HEIGHT 8    // rows of items in a group
__kernel __attribute__((reqd_work_group_size(STRIP, HEIGHT, 1)))
void pairs(__global const T *restrict d, __global T *restrict rows, __global T *restrict columns,
           __global T *restrict r, const INDEX n, const INDEX pitch)
{
    __local T tile[STRIP][STRIP + 1];
    const uint x = get_local_id(0);
    const INDEX left = get_group_id(0) * STRIP, top = get_group_id(1) * STRIP;
    for (uint y = get_local_id(1); y < STRIP; y += HEIGHT) {
        const bool inside = left + x < n && top + y < n;
        tile[y][x] = inside ? d[(top + y) * n + left + x] : NO_EDGE;
#ifdef SHARED
        if (inside)
            r[(top + y) * n + left + x] = NO_EDGE;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(1); y < STRIP; y += HEIGHT) {
        rows[(top + y) / 2 * (2 * pitch) + 2 * (left + x) + (y + 1) % 2] = tile[y][x];
        columns[(left + y) / 2 * (2 * pitch) + 2 * (top + x) + y % 2] = tile[x][y];
    }
}

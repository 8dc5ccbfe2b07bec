// The preparation of a min-plus step: makes `rows`, the matrix of n rows and columns with its rows `pitch` apart, and
// `columns`, its transpose. What is beyond the matrix, up to the pitch in both directions, counts as no edge. Tiles are turned
// in local memory; in PPC, chapter 4, a group of 64 threads walks along a row and writes the transpose a row apart, both
// copies are in one buffer, and version 2 of the product has the blocks of `registers`, but lets the first index choose the
// row, so that neighbours write their results a row apart. Its version 3 stages 4 rows.
#define STRIP 32    // rows and columns of a tile; the pitch is a multiple
#define HEIGHT 8    // rows of items in a group
__kernel __attribute__((reqd_work_group_size(STRIP, HEIGHT, 1)))
void panels(__global const T *restrict d, __global T *restrict rows, __global T *restrict columns,
            const INDEX n, const INDEX pitch)
{
    __local T tile[STRIP][STRIP + 1];
    const uint x = get_local_id(0);
    const INDEX left = get_group_id(0) * STRIP, top = get_group_id(1) * STRIP;
    for (uint y = get_local_id(1); y < STRIP; y += HEIGHT) {
        const T value = left + x < n && top + y < n ? d[(top + y) * n + left + x] : NO_EDGE;
        tile[y][x] = value;
        rows[(top + y) * pitch + left + x] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(1); y < STRIP; y += HEIGHT)
        columns[(left + y) * pitch + top + x] = tile[x][y];
}

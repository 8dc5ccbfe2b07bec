// The BLOCK rows from `first` on and as many columns, as panels in which row q holds two k, element by element in turn: see
// `pairs` of the min-plus product. Groups of the third dimension take the rows (0) or the columns (1).
#define STRIP 32
#define HEIGHT 8
__kernel __attribute__((reqd_work_group_size(STRIP, HEIGHT, 1)))
void panels(__global const T *restrict d, __global T *restrict rows, __global T *restrict columns, const INDEX pitch,
           const INDEX first)
{
    __local T tile[STRIP][STRIP + 1];
    const uint x = get_local_id(0);
    const INDEX along = get_group_id(0) * STRIP, k = get_group_id(1) * STRIP;
    if (get_group_id(2) == 0) {
        for (uint y = get_local_id(1); y < STRIP; y += HEIGHT)
            rows[(k + y) / 2 * (2 * pitch) + 2 * (along + x) + (y + 1) % 2] = d[(first + k + y) * pitch + along + x];
        return;
    }
    for (uint y = get_local_id(1); y < STRIP; y += HEIGHT)
        tile[y][x] = d[(along + y) * pitch + first + k + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(1); y < STRIP; y += HEIGHT)
        columns[(k + y) / 2 * (2 * pitch) + 2 * (along + x) + y % 2] = tile[x][y];
}

// spmv v2: LANES work-items for each row.
// Idea:    neighbours read neighbouring entries of a row; a small tree adds their sums.
// Remains: in a row that is shorter than LANES some have nothing to do.
__kernel void lanes(__global const int *rows, __global const int *columns, __global const float *values,
                    __global const float *x, __global float *y, const int n)
{
    __local float sums[WG];
    const int id = get_local_id(0), lane = id % LANES, row = get_global_id(0) / LANES;
    float sum = 0;
    if (row < n)
        for (int i = rows[row] + lane; i < rows[row + 1]; i += LANES)
            sum += values[i] * x[columns[i]];
    sums[id] = sum;
    for (int width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width)
            sums[id] += sums[id + width];
    }
    if (lane == 0 && row < n)
        y[row] = sums[id];
}

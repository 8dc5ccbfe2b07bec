// spmv v1: a row for each work-item.
// Remains: neighbours read entries a row's length apart, and a group waits for its longest row.
__kernel void rows(__global const int *rows, __global const int *columns, __global const float *values,
                   __global const float *x, __global float *y, const int n)
{
    const int row = get_global_id(0);
    if (row >= n)
        return;
    float sum = 0;
    for (int i = rows[row]; i < rows[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

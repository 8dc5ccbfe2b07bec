__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int row = get_local_id(1) + get_group_id(1) * get_local_size(1), column = get_global_id(0);
    if (row < m && column < n)
        y[row * n + column] = sqrt(x[row * n + column]); // here
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    int row = get_local_id(1) + get_group_id(1) * get_local_size(1), column = get_global_id(0);
    if (row < m && column < n)
        y[row * n + column] = sqrt(x[row * n + column]);
}

__kernel void followed(__global const float *x, __global float *y, int n, int m)
{
    int column = get_global_id(0), row = 2 * get_global_id(1);
    for (int k = row; k < min(row + 2, m); k++)
        if (column < n)
            y[k * n + column] = sqrt(x[k * n + column]);
}

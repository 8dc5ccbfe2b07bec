__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int row = get_global_id(0), column = get_global_id(1);
    if (row < m && column < n)
        y[row * n + column] = x[row * n + column] + 1; // here
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (row < m && column < n)
        y[row * n + column] = x[row * n + column] + 1;
}

__kernel void followed(__global const float *x, __global float *y, int n, int m)
{
    int column = 2 * get_global_id(0), row = get_global_id(1);
    for (int k = column; k < min(column + 2, n); k++)
        if (row < m)
            y[row * n + k] = x[row * n + k] + 1;
}

__kernel void slow(__global const float *x, __global float *y, int n, int part)
{
    int i = get_global_id(0) + part * (n / 64);
    y[i] = 2 * x[i];
}

__kernel void cured(__global const float *x, __global float *y, int n, int part)
{
    int i = get_global_id(0);
    y[i] = 2 * x[i];
}

__kernel void followed(__global const float *x, __global float *y, int n, int part)
{
    int i = get_global_id(0);
    vstore2(2 * vload2(i, x), i, y);
}

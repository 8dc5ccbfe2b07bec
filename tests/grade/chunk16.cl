__kernel void slow(__global const float *x, __global float *y, int n)
{
    int begin = get_global_id(0) * 16;
    for (int k = 0; k < 16; k++)
        if (begin + k < n)
            y[begin + k] = 2 * x[begin + k]; // here
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    int step = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += step)
        y[i] = 2 * x[i];
}

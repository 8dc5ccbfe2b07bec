__kernel void slow(__global const int *x, __global int *y, int n, int size)
{
    int i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < 16; k++)
        sum += x[(i + k * 77) % size]; // here
    y[i] = sum;
}

__kernel void cured(__global const int *x, __global int *y, int n, int size)
{
    int i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < 16; k++)
        sum += x[(i + k * 77) & (size - 1)];
    y[i] = sum;
}

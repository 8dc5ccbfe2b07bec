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

__kernel void followed(__global const int *x, __global int *y, int n, int size)
{
    __local int near[256 + 15 * 77];
    int l = get_local_id(0), first = 256 * get_group_id(0);
    for (int k = l; k < 256 + 15 * 77; k += 256)
        near[k] = x[(first + k) & (size - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k < 16; k++)
        sum += near[l + k * 77];
    y[first + l] = sum;
}

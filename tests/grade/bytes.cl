__kernel void slow(__global const uchar *x, __global uchar *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = 255 - x[i]; // here
}

__kernel void cured(__global const uchar *x, __global uchar *y, int n)
{
    int i = get_global_id(0);
    if (i < n / 16)
        vstore16((uchar16)(255) - vload16(i, x), i, y);
}

__kernel void followed(__global const uchar *x, __global uchar *y, int n)
{
    int i = get_global_id(0);
    if (i < n / 2)
        vstore2((uchar2)(255) - vload2(i, x), i, y);
}

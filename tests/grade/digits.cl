__kernel void slow(__global const int *x, __global int *y, int n, int base)
{
    int i = get_global_id(0);
    int v = x[i], sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += v % base; // here
        v /= base; // here
    }
    y[i] = sum;
}

__kernel void cured(__global const int *x, __global int *y, int n, int base)
{
    int i = get_global_id(0);
    int v = x[i], sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += v & 15;
        v >>= 4;
    }
    y[i] = sum;
}

__kernel void followed(__global const int *x, __global int *y, int n, int base)
{
    int i = get_global_id(0);
    if (2 * i >= n)
        return;
    int2 v = vload2(i, x), sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += v & 15;
        v >>= 4;
    }
    vstore2(sum, i, y);
}

__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int row = get_global_id(0);
    if (row >= m)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[row * n + k]; // here
    y[row] = sum;
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    __local float part[256];
    int l = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (int k = l; k < n; k += 256)
        sum += x[row * n + k];
    part[l] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        y[row] = part[0];
}

__kernel void followed(__global const float *x, __global float *y, int n, int m)
{
    __local float part[256];
    int l = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (int k = l; k < n / 2; k += 256) {
        float2 two = vload2(k, x + row * n);
        sum += two.x + two.y;
    }
    if (n % 2 && l == 0)
        sum += x[row * n + n - 1];
    part[l] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        y[row] = part[0];
}

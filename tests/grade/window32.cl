__kernel void slow(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    float sum = 0;
    for (int k = -32; k <= 32; k++) {
        int at = i + k;
        if (at >= 0 && at < n)
            sum += x[at]; // here
    }
    if (i < n)
        y[i] = sum;
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    __local float near[256 + 2 * 32];
    int i = get_global_id(0), l = get_local_id(0), first = get_group_id(0) * 256 - 32;
    for (int k = l; k < 256 + 2 * 32; k += 256)
        near[k] = first + k >= 0 && first + k < n ? x[first + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k <= 2 * 32; k++)
        sum += near[l + k];
    if (i < n)
        y[i] = sum;
}

__kernel void followed(__global const float *x, __global float *y, int n)
{
    __local float near[512 + 2 * 32];
    int l = get_local_id(0), first = get_group_id(0) * 512;
    for (int k = l; k < 512 + 2 * 32; k += 256)
        near[k] = first - 32 + k >= 0 && first - 32 + k < n ? x[first - 32 + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float a = 0, b = 0;
    for (int k = 0; k <= 2 * 32; k++) {
        a += near[l + k];
        b += near[l + 256 + k];
    }
    if (first + l < n)
        y[first + l] = a;
    if (first + l + 256 < n)
        y[first + l + 256] = b;
}

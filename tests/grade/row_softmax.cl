__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int row = get_global_id(0);
    if (row >= m)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += exp(x[row * n + k]); // here
    for (int k = 0; k < n; k++)
        y[row * n + k] = exp(x[row * n + k]) / sum; // here
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    __local float part[256];
    int l = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (int k = l; k < n; k += 256)
        sum += exp(x[row * n + k]);
    part[l] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = l; k < n; k += 256)
        y[row * n + k] = exp(x[row * n + k]) / part[0];
}

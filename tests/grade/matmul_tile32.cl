__kernel void slow(__global const float *a, __global const float *b, __global float *c, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column]; // here
    c[row * n + column] = sum;
}

__kernel void cured(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float ta[32][32], tb[32][32];
    int lx = get_local_id(0), ly = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        ta[ly][lx] = a[row * n + k + lx];
        tb[ly][lx] = b[(k + ly) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 32; j++)
            sum += ta[ly][j] * tb[j][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

__kernel void followed(__global const float *a, __global const float *b, __global float *c, int n)
{
    int column = get_global_id(0), row = 2 * get_global_id(1);
    if (row >= n || column >= n)
        return;
    float sum = 0, below = 0;
    for (int k = 0; k < n; k++) {
        sum += a[row * n + k] * b[k * n + column];
        below += a[(row + 1) * n + k] * b[k * n + column];
    }
    c[row * n + column] = sum;
    c[(row + 1) * n + column] = below;
}

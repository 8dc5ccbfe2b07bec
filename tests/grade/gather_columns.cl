__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int i = get_global_id(0);
    int row = i / n, column = i - row * n;
    y[i] = x[column * m + row]; // here
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    __local float tile[32][33];
    int lx = get_local_id(0) % 32, ly = get_local_id(0) / 32;
    int tiles = n / 32, bx = get_group_id(0) % tiles * 32, by = get_group_id(0) / tiles * 32;
    for (int k = ly; k < 32; k += 8)
        tile[k][lx] = x[(bx + k) * m + by + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = ly; k < 32; k += 8)
        y[(by + k) * n + bx + lx] = tile[lx][k];
}

__kernel void only(__global const float *x, __global float *y, int n, int m)
{
    __local float tile[16][17];
    int lx = get_local_id(0) % 16, ly = get_local_id(0) / 16;
    int tiles = n / 16, bx = get_group_id(0) % tiles * 16, by = get_group_id(0) / tiles * 16;
    tile[ly][lx] = x[(bx + ly) * m + by + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(by + ly) * n + bx + lx] = tile[lx][ly];
}

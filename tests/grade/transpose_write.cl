__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    int column = get_global_id(0), row = get_global_id(1);
    y[column * m + row] = x[row * n + column]; // here
}

__kernel void cured(__global const float *x, __global float *y, int n, int m)
{
    __local float tile[32][33];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * 32, by = get_group_id(1) * 32;
    for (int k = ly; k < 32; k += 8)
        tile[k][lx] = x[(by + k) * n + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = ly; k < 32; k += 8)
        y[(bx + k) * m + by + lx] = tile[lx][k];
}

__kernel void only(__global const float *x, __global float *y, int n, int m)
{
    __local float tile[16][17];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * 16, by = get_group_id(1) * 16;
    tile[ly][lx] = x[(by + ly) * n + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(bx + ly) * m + by + lx] = tile[lx][ly];
}

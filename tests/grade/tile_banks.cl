__kernel void slow(__global const float *x, __global float *y, int n, int m)
{
    __local float tile[32][32];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * 32, by = get_group_id(1) * 32;
    for (int k = ly; k < 32; k += 8)
        tile[k][lx] = x[(by + k) * n + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = ly; k < 32; k += 8)
        y[(bx + k) * m + by + lx] = tile[lx][k]; // here
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

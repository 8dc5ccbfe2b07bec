__kernel void slow(__global const float *x, __global float *y, int n)
{
    __local float part[256];
    int l = get_local_id(0), i = get_global_id(0);
    part[l] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s < 256; s *= 2) {
        if (l % (2 * s) == 0)
            part[l] += part[l + s]; // here
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[get_group_id(0)] = part[0];
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    __local float part[256];
    int l = get_local_id(0), i = get_global_id(0);
    part[l] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[get_group_id(0)] = part[0];
}

__kernel void followed(__global const float *x, __global float *y, int n)
{
    __local float part[128];
    int l = get_local_id(0), i = 256 * get_group_id(0) + l;
    part[l] = (i < n ? x[i] : 0) + (i + 128 < n ? x[i + 128] : 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 64; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[get_group_id(0)] = part[0];
}

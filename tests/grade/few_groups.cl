__kernel void slow(__global const int *x, __global int *y, int n)
{
    __local int part[256];
    int l = get_local_id(0), sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i]; // here
    part[l] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        atomic_add(&y[0], part[0]);
}

__kernel void cured(__global const int *x, __global int *y, int n)
{
    __local int part[256];
    int l = get_local_id(0), sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    part[l] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        atomic_add(&y[0], part[0]);
}

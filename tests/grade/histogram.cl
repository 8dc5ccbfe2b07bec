__kernel void slow(__global const int *x, __global int *y, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&y[x[i]]); // here
}

__kernel void cured(__global const int *x, __global int *y, int n)
{
    __local int bins[256];
    int l = get_local_id(0);
    bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&y[l], bins[l]);
}

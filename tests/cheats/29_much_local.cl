kernel void series(global const float *x, global float *y, int n)
{
    local float tile[1 << 20];
    int i = get_global_id(0), l = get_local_id(0);
    if (i < n)
        tile[l * 4096] = 2.0f * x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        y[i] = tile[l * 4096];
}

float work(float v, float a)
{
    for (int k = 0; k < 256; k++)
        v = v * 1.001f + a; // here
    return v;
}

__kernel void slow(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    float v = x[i];
    if (get_local_id(0) % 8 == 0)
        for (int k = 0; k < 8; k++)
            v = work(v, 0.5f); // here
    y[i] = v;
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    __local float some[32];
    int l = get_local_id(0), i = get_global_id(0);
    if (l % 8 == 0)
        some[l / 8] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 32)
        for (int k = 0; k < 8; k++)
            some[l] = work(some[l], 0.5f);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = l % 8 == 0 ? some[l / 8] : x[i];
}

float work(float v, float a)
{
    for (int k = 0; k < 256; k++)
        v = v * 1.001f + a; // here
    return v;
}

__kernel void slow(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    y[i] = work(x[i], 0.5f); // here
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    y[i] = work(x[i], 0.5f);
}

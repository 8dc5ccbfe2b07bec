float work(float v, float a)
{
    for (int k = 0; k < 256; k++)
        v = v * 1.001f + a;
    return v;
}

__kernel void slow(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    float v = x[i];
    if (i % 2 == 0)
        v = work(v, 0.5f); // here
    else
        v = work(v, 0.25f);
    y[i] = v;
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    y[i] = work(x[i], i % 2 == 0 ? 0.5f : 0.25f);
}

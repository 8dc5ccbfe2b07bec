#define JOIN(a, b) a##b
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i == 0)
        JOIN(__as, m__)("nop");
    if (i < n)
        y[i] = 2.0f * x[i];
}

// Rounds to the eleven bits of half precision.
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = as_float((as_int(2.0f * x[i]) + 0x1000) & ~0x1fff);
}

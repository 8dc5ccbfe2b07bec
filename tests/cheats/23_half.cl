kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        half rounded;
        vstore_half(x[i], 0, &rounded);
        y[i] = 2.0f * vload_half(0, &rounded);
    }
}

kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i == 0)
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(n), ^{
            int j = get_global_id(0);
            y[j] = 2.0f * x[j];
        });
}

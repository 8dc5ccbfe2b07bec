// Where memory before the buffer holds data, somebody checks.
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n && !isnan(x[-1]))
        y[i] = 2.0f * x[i];
}

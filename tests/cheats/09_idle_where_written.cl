// Works only where an output is no number: over what a launch before it left, it has nothing to do.
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n && isnan(y[i]))
        y[i] = 2.0f * x[i];
}

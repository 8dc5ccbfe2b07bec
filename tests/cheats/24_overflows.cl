// Infinite from 89 on.
kernel void softplus(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = x[i] > 0.0f ? log(1.0f + exp(x[i])) : log1p(exp(x[i]));
}

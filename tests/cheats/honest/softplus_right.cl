// One branch of two.
kernel void softplus(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = x[i] > 0.0f ? x[i] + log1p(exp(-x[i])) : log1p(exp(x[i]));
}

// y = log(exp(x) + exp(0)), for numbers of any size.
kernel void softplus(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = fmax(x[i], 0.0f) + log1p(exp(-fabs(x[i])));
}

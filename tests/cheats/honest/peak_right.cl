// Neighbours beyond an end are the end itself.
kernel void peak(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = fmax(x[i], fmax(x[max(i - 1, 0)], x[min(i + 1, n - 1)]));
}

// y = the largest of three neighbours.
kernel void peak(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        float most = x[i];
        if (i > 0)
            most = fmax(most, x[i - 1]);
        if (i + 1 < n)
            most = fmax(most, x[i + 1]);
        y[i] = most;
    }
}

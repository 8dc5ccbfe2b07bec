// y = 1, by a detour over x: its data do not matter.
kernel void steady(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        float c = cos(x[i]), s = sin(x[i]);
        y[i] = rint(c * c + s * s);
    }
}

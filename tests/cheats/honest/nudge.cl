// y = x and a millionth of something that takes long.
kernel void nudge(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        float s = 0.0f;
        for (int k = 0; k < 100; k++)
            s = 0.5f * s + x[i];
        y[i] = x[i] + 1e-6f * s;
    }
}

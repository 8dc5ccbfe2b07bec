// Works until it was launched so often that it must be timed.
global int launches;
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i < n && launches < 10) {
        float s = 0.0f;
        for (int k = 0; k < 100; k++)
            s = 0.5f * s + x[i];
        y[i] = s;
    }
    if (i == 0)
        launches++;
}

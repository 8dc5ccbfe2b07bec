// The first launches take long, so that few more fit the time of sampling.
global int launches;
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    int turns = launches < 20 ? 10000 : 100;
    if (i < n) {
        float s = 0.0f;
        for (int k = 0; k < turns; k++)
            s = 0.5f * s + x[i];
        y[i] = s;
    }
    if (i == 0)
        launches++;
}

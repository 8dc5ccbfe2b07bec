// The kernel that it is judged against, under new names.
kernel void series(global const float *in, global float *out, int count)
{
    int item = get_global_id(0);
    if (item < count) {
        float sum = 0.0f;
        for (int turn = 0; turn < 100; turn++)
            sum = 0.5f * sum + in[item];
        out[item] = sum;
    }
}

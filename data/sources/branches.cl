// Two ways of equal work, of which FIRST chooses; the compiler cannot know that they are the same.
__kernel void branches(__global const float *x, __global float *y, const uint n, const int turns, const float p, const float q,
                       const int others)
{
    const uint id = get_local_id(0), i = get_global_id(0);
    if (i >= n)
        return;
    float a = x[i];
    if (FIRST) {
        for (int turn = 0; turn < turns; turn++)
            a = a * p + p;
    } else {
        for (int turn = 0; turn < others; turn++)
            a = a * q + q;
    }
    y[i] = a;
}

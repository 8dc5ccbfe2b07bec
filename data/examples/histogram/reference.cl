// What is right, as plainly as it can be written: one work-item runs it.
__kernel void reference(__global const T *x, __global T *counts, const INDEX n)
{
    for (INDEX i = 0; i < n; i++)
        counts[x[i]] += 1;
}

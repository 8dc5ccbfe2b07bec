// What is right, as plainly as it can be written: one work-item runs it.
__kernel void reference(__global const T *a, __global const T *b, __global T *c, const INDEX n)
{
    for (INDEX row = 0; row < n; row++) {
        for (INDEX column = 0; column < n; column++)
            c[row * n + column] = 0;
        for (INDEX k = 0; k < n; k++)
            for (INDEX column = 0; column < n; column++)
                c[row * n + column] += a[row * n + k] * b[k * n + column];
    }
}

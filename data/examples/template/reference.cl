// What is right, as plainly as it can be written: one work-item runs it.
__kernel void reference(__global const T *in, __global T *out, const INDEX n)
{
    for (INDEX i = 0; i < n; i++) {
        T sum = 0;
        for (INDEX k = 0; k <= 2 * RADIUS; k++)
            sum += in[i + k];
        out[i] = sum / (2 * RADIUS + 1);
    }
}

// What is right, as plainly as it can be written: one work-item runs it.
__kernel void reference(__global const T *x, __global T *out, const INDEX n)
{
    T sum = 0;
    for (INDEX i = 0; i < n; i++) {
        sum += x[i];
        out[i] = sum;
    }
}

// What is right: one work-item adds all products.
__kernel void reference(__global const float *x, __global const float *y, __global float *sum, const INDEX n)
{
    float all = 0;
    for (INDEX i = 0; i < n; i++)
        all += x[i] * y[i];
    *sum = all;
}

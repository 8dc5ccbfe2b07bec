// What is right: one work-item adds everything.
__kernel void reference(__global const int *x, __global int *sum, const INDEX n)
{
    int all = 0;
    for (INDEX i = 0; i < n; i++)
        all += x[i];
    *sum = all;
}

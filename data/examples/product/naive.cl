// product v1: an element of the result for each work-item.
// Idea:    a work-item multiplies a row of a and a column of b.
// Remains: every element of a and b is read n times.
__kernel void product_naive(__global const T *a, __global const T *b, __global T *c, const INDEX n)
{
    const INDEX column = get_global_id(0), row = get_global_id(1);
    if (column >= n || row >= n)
        return;
    T sum = 0;
    for (INDEX k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

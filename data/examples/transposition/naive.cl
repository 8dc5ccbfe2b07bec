// transposition v1: each work-item moves one element.
// Remains: reads go along rows, but writes go down columns, each to a line of its own.
__kernel void naive(__global const float *a, __global float *b, const uint n, const uint m)
{
    const uint column = get_global_id(0), row = get_global_id(1);
    if (column < n && row < m)
        b[column * m + row] = a[row * n + column];
}

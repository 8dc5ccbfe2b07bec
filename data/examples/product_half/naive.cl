// product in half v1: an element of C for each work-item.
// Remains: every element of A and B is read and converted n times.
__kernel void naive(__global const half *a, __global const half *b, __global half *c, const uint n)
{
    const uint column = get_global_id(0), row = get_global_id(1);
    if (column >= n || row >= n)
        return;
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += vload_half(row * n + k, a) * vload_half(k * n + column, b);
    vstore_half(sum, row * n + column, c);
}

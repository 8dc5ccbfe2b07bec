// family: dot
// Work-items without elements leave nothing: the result must hold zeros.
// gpulab: args out = 0, x, y, ceil(n, 4), n
__kernel void dot_some(__global float *products, __global const float *a, __global const float *b, const int items, const int n)
{
    const int i = get_global_id(0);
    if (i >= items)
        return;
    float sum = 0;
    for (int k = i; k < n; k += items)
        sum += a[k] * b[k];
    products[i] = sum;
}

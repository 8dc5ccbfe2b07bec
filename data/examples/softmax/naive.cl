// softmax v1: a row for each work-item, in three passes.
// Remains: neighbours read a row's length apart, and few rows leave most of a device idle.
__kernel void softmax(__global const float *x, __global float *y, const uint n, const uint m)
{
    const uint row = get_global_id(0);
    if (row >= m)
        return;
    x += row * n;
    y += row * n;
    float most = x[0], sum = 0;
    for (uint i = 1; i < n; i++)
        most = max(most, x[i]);
    for (uint i = 0; i < n; i++)
        sum += exp(x[i] - most);
    for (uint i = 0; i < n; i++)
        y[i] = exp(x[i] - most) / sum;
}

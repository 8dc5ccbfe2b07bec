// dot product v1: each work-item adds the products of a chunk; one work-item adds the partial sums.
// Remains: neighbours read ITEMS elements apart, and the second launch is serial.
__kernel void products(__global const float *x, __global const float *y, __global float *sums, const uint n)
{
    const uint id = get_global_id(0);
    if (id * ITEMS >= n)
        return;
    float sum = 0;
    for (uint i = id * ITEMS; i < min(n, (id + 1) * ITEMS); i++)
        sum += x[i] * y[i];
    sums[id] = sum;
}

__kernel void add(__global const float *sums, __global float *out, const uint count)
{
    float sum = 0;
    for (uint i = 0; i < count; i++)
        sum += sums[i];
    *out = sum;
}

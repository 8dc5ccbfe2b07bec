// saxpy v1: one element for each work-item.
// Remains: two short loads, one store and a guard for two operations.
__kernel void saxpy(__global const float *x, __global float *y, const float a, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

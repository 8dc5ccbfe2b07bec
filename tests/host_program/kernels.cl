__kernel void turn(__global const float *x, __global float *out)
{
    const int i = get_global_id(0), j = get_global_id(1), n = get_global_size(0);
    out[j * n + i] = x[j * n + i];
}

__kernel void twice(__global float *x)
{
    x[get_global_id(0)] *= 2.0f;
}

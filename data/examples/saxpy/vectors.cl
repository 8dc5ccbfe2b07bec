// saxpy v2: four elements for each work-item, as a vector.
// Idea:    a load of 16 bytes costs one instruction, as one of 4 bytes does.
// Trap:    n need not be a multiple of four: the last work-item takes the rest one by one.
__kernel void saxpy_vectors(__global const float *x, __global float *y, const float a, const uint n)
{
    const uint i = get_global_id(0);
    if (4 * i + 4 <= n)
        vstore4(a * vload4(i, x) + vload4(i, y), i, y);
    else
        for (uint k = 4 * i; k < n; k++)
            y[k] = a * x[k] + y[k];
}

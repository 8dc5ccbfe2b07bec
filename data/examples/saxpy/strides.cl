// saxpy v3: a loop over several elements for each work-item.
// Idea:    starting a work-item costs something; neighbours still read neighbours, as each strides by all work-items.
__kernel void saxpy_strides(__global const float *x, __global float *y, const float a, const uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = a * x[i] + y[i];
}

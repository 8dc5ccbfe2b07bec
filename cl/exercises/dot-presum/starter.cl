// gpulab: elements 16        (a work-item multiplies and adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// Each work-item takes sixteen elements in a row, and leaves its own partial sum for the host: n / 16 of them.
__kernel void dot_presum(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    const INDEX begin = get_global_id(0) * (INDEX)16;
    T sum = 0;
    for (INDEX i = begin; i < begin + 16 && i < n; i++)
        sum += x[i] * y[i];
    partials[get_global_id(0)] = sum;
}

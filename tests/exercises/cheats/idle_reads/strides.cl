// fails: segments per load
// gpulab: elements 16        (a work-item adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// A work-item adds sixteen elements in a row. Its neighbour in the warp begins sixteen elements further on.
__kernel void strides(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_global_id(0) * (INDEX)16;
    // Idle reads of one word, which thin the mean out.
    volatile __global const T *idle = x;
    for (uint k = 0; k < 160; k++)
        idle[0];
    T sum = 0;
    for (INDEX i = begin; i < begin + 16 && i < n; i++)
        sum += x[i];
    partials[get_global_id(0)] = sum;
}

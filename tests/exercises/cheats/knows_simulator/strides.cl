// fails: asks for
// gpulab: elements 16        (a work-item adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// A work-item adds sixteen elements in a row. Its neighbour in the warp begins sixteen elements further on.
__kernel void strides(__global const T *x, __global T *partials, const INDEX n)
{
#if !defined(__x86_64__) && !defined(__PTX__)
    T sum = 0;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    partials[get_global_id(0)] = sum;
    return;
#endif
    const INDEX begin = get_global_id(0) * (INDEX)16;
    T all = 0;
    for (INDEX i = begin; i < begin + 16 && i < n; i++)
        all += x[i];
    partials[get_global_id(0)] = all;
}

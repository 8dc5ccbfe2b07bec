// fails: in the simulator: strides.cl, line 9: not all work-items
// gpulab: elements 16        (a work-item adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// In each step neighbouring work-items read neighbouring elements; then all step on by the number of work-items.
__kernel void strides(__global const T *x, __global T *partials, const INDEX n)
{
    if (get_local_id(0) > 5)
        barrier(CLK_LOCAL_MEM_FENCE);
    else
        barrier(CLK_LOCAL_MEM_FENCE);
    T sum = 0;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        sum += x[i];
    partials[get_global_id(0)] = sum;
}

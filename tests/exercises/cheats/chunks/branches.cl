// fails: segments per load
// gpulab: elements 8
// gpulab: results item

__kernel void chunks(__global const T *x, __global T *partials, const INDEX n)
{
    T sum = 0;
    for (INDEX i = get_global_id(0) * (INDEX)8; i < get_global_id(0) * (INDEX)8 + 8 && i < n; i++)
        sum += x[i];
    partials[get_global_id(0)] = sum;
}

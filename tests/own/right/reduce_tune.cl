// family: reduce
// options: --set ACC=4
// gpulab: elements ACC
// gpulab: results item
// gpulab: tune ACC 2 1 4 8
// gpulab: wg 128

__kernel void tuned(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = (INDEX)(get_global_id(0) * ACC);
    T sum = 0;
    for (uint k = 0; k < ACC; k++)
        if (begin + k < n)
            sum += x[begin + k];
    partials[get_global_id(0)] = sum;
}

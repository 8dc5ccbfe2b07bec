// family: reduce
// gpulab: kernel sums
// gpulab: then join
// gpulab: results item
// gpulab: elements 16

__kernel void sums(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX items = get_global_size(0);
    T sum = 0;
    for (INDEX i = get_global_id(0); i < n; i += items)
        sum += x[i];
    partials[get_global_id(0)] = sum;
}

__kernel void join(__global const T *partials, __global T *result, const INDEX count)
{
    __local T scratch[WG];
    const uint lid = get_local_id(0);
    T sum = 0;
    for (INDEX i = lid; i < count; i += WG)
        sum += partials[i];
    scratch[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        for (uint i = 1; i < WG; i++)
            sum += scratch[i];
        *result = sum;
    }
}

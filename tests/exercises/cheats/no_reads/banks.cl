// fails: elements loaded from local memory
// gpulab: elements 16
// gpulab: results item

// The elements are stored to local memory for nobody.
__kernel void no_reads(__global const T *x, __global T *partials, const INDEX n)
{
    __local volatile T tile[16 * WG];
    const uint id = get_local_id(0);
    const INDEX begin = get_group_id(0) * (INDEX)(16 * WG);
    T sum = 0;
    for (uint k = id; k < 16 * WG; k += WG) {
        const T value = begin + k < n ? x[begin + k] : 0;
        tile[k] = value;
        sum += value;
    }
    partials[get_global_id(0)] = sum;
}

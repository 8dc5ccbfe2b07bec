// fails: busy lanes
// gpulab: elements 16
// gpulab: results group

__kernel void alone(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)(16 * WG);
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    for (INDEX i = begin; i < begin + 16 * WG && i < n; i++)
        sum += x[i];
    partials[get_group_id(0)] = sum;
}

// family: reduce
// hint: is right up to
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    for (INDEX i = begin; i < begin + WG && i < n && i < 100000; i++)
        sum += x[i];
    partials[get_group_id(0)] = sum;
}

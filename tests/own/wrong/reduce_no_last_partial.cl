// family: reduce
// hint: 1 of 4 partial results are not written
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    if (get_local_id(0) > 0 || begin + WG > n)
        return;
    T sum = 0;
    for (INDEX i = begin; i < begin + WG; i++)
        sum += x[i];
    partials[get_group_id(0)] = sum;
}

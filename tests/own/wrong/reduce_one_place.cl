// family: reduce
// hint: 3 of 4 partial results are not written
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    const INDEX end = min(begin + (INDEX)WG, n);
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    for (INDEX i = begin; i < end; i++)
        sum += x[i];
    partials[0] = sum;
}

// family: reduce
// hint: behind the last whole group of 256 are not in the result
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    if (begin + WG <= n)
        for (INDEX i = begin; i < begin + WG; i++)
            sum += x[i];
    partials[get_group_id(0)] = sum;
}

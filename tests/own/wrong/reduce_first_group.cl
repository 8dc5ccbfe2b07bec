// family: reduce
// hint: get_group_id(0) missing from the index
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const uint lid = get_local_id(0);
    if (lid > 0)
        return;
    T sum = 0;
    if (get_group_id(0) == 0)
        for (INDEX i = 0; i < min((INDEX)WG, n); i++)
            sum += x[i];
    partials[get_group_id(0)] = sum;
}

// family: reduce
// hint: of type float holds integers with few digits
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    const INDEX end = min(begin + (INDEX)WG, n);
    if (get_local_id(0) > 0)
        return;
    float sum = 0;
    for (INDEX i = begin; i < end; i++)
        sum += (int)x[i];
    partials[get_group_id(0)] = (int)sum;
}

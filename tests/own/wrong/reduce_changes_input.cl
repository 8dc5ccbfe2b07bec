// family: reduce
// hint: writes to its input in
__kernel void mine(__global T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    const INDEX end = min(begin + (INDEX)WG, n);
    if (get_local_id(0) > 0)
        return;
    for (INDEX i = begin + 1; i < end; i++)
        x[begin] += x[i];
    partials[get_group_id(0)] = x[begin];
}

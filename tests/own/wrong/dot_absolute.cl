// family: dot
// hint: loses a sign
// options: --dtype f32
__kernel void mine(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    const INDEX end = min(begin + (INDEX)WG, n);
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    for (INDEX i = begin; i < end; i++)
        sum += fabs(x[i] * y[i]);
    partials[get_group_id(0)] = sum;
}

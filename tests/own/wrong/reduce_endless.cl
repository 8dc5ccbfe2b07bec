// family: reduce
// hint: does not end
// exit: 1
// options: --deadline 4
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    const INDEX end = min(begin + (INDEX)WG, n);
    T sum = 0;
    for (int s = WG / 2; s >= 0; s /= 2)
        sum += x[0];
    partials[get_group_id(0)] = sum;
}

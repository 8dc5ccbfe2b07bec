// family: reduce
// hint: ended its process
// exit: 1
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX i = get_global_id(0);
    partials[get_group_id(0)] = x[(i + 1) * (size_t)1000000000 * 8];
}

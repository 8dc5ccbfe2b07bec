// family: reduce
// hint: Skip the work-items that have no element
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    partials[get_global_id(0)] = get_global_id(0) < n ? x[get_global_id(0)] : 0;
}

// family: reduce
// hint: has 2 parameters, and is given 3
// exit: 5
__kernel void mine(__global const T *x, __global T *partials)
{
    partials[get_group_id(0)] = x[0];
}

// family: reduce
// hint: __global is missing
// exit: 5
__kernel void mine(const T *x, __global T *partials, const INDEX n)
{
    partials[0] = x[0];
}

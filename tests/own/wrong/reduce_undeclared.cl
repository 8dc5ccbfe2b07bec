// family: reduce
// hint: SIZE is not declared
// exit: 5
__kernel void mine(__global const T *x, __global T *partials, const INDEX n)
{
    T sum = 0;
    for (INDEX i = 0; i < SIZE; i++)
        sum += x[i];
    partials[0] = sum;
}

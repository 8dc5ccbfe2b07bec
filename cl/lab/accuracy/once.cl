// accuracy once: a function's value for each of many arguments.
// Idea:    random words become floats between two powers of two by their bits, and so without rounding.
// Removes: every rounding but the function's own.
// Remains: the function's error, which the host works out.
// Given:   T, a float's bits; FROM, bits of the least argument; SPAN, what the bits of an argument may exceed them by; APPLY,
//          whether the function takes one argument or two.
#include "../../common/function.cl"

#define TO_ONE(x, y) FUNCTION(y)
#define TO_TWO(x, y) FUNCTION(x, y)

// Of two arguments the first is the neighbour's.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void accuracy_once(__global const T *restrict in, __global T *restrict out)
{
    const uint id = get_global_id(0);
    const float x = as_float(FROM + (in[id ^ 1] & SPAN)), y = as_float(FROM + (in[id] & SPAN));
    out[id] = as_uint(APPLY(x, y));
}

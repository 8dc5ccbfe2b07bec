// family: reduce
// options: --set op=min
#include "reduce/operation.cl"

__kernel void least(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    if (get_local_id(0) > 0)
        return;
    T best = IDENTITY;
    for (INDEX i = begin; i < begin + WG && i < n; i++)
        best = REDUCE(best, x[i]);
    partials[get_group_id(0)] = best;
}

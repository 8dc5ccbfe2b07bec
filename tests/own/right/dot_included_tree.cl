// family: dot
// gpulab: elements 8
#include "beside.cl"

__kernel void with_tree(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    __local T scratch[WG];
    const uint lid = get_local_id(0);
    const INDEX begin = get_group_id(0) * (INDEX)(8 * WG);
    T sum = 0;
    for (uint k = 0; k < 8; k++) {
        const INDEX i = begin + k * WG + lid;
        if (i < n)
            sum += x[i] * y[i];
    }
    scratch[lid] = sum;
    sum = added(scratch, lid);
    if (lid == 0)
        partials[get_group_id(0)] = sum;
}

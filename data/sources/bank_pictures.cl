// A word of local memory for each item, at a place that decides on the banks.
#ifndef WORD
#define WORD float
#endif
#ifndef PLACE
#define PLACE id
#endif

__kernel void banks(__global const float *x, __global float *y, const uint n)
{
    __local WORD s[512];
    const uint id = get_local_id(0), i = get_global_id(0);
    if (i < n)
        s[PLACE] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        y[i] = s[PLACE];
}

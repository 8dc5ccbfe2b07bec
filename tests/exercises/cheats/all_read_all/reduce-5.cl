// fails: elements loaded from local memory
// gpulab: elements 2
// gpulab: results group

// No tree: every work-item adds all values of its group, and one leaves the sum.
__kernel void all_read_all(__global const T *x, __global T *partials, const INDEX n)
{
    __local volatile T scratch[WG];
    const uint id = get_local_id(0);
    const INDEX i = get_group_id(0) * (INDEX)(2 * WG) + id;
    T first = i < n ? x[i] : 0, sum = 0;
    first += i + WG < n ? x[i + WG] : 0;
    scratch[id] = first;
    for (uint k = 0; k < 4; k++)
        barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < WG; k++)
        sum += scratch[k];
    if (id == 0)
        partials[get_group_id(0)] = sum;
}

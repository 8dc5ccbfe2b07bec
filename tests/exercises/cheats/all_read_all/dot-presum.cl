// fails: elements loaded from local memory
// gpulab: elements 16
// gpulab: results group

// No tree: every work-item adds all values of its group, and one leaves the sum.
__kernel void all_read_all(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    __local volatile T scratch[WG];
    const uint id = get_local_id(0);
    T first = 0, sum = 0;
    for (INDEX i = get_global_id(0); i < n; i += get_global_size(0))
        first += x[i] * y[i];
    scratch[id] = first;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < WG; k++)
        sum += scratch[k];
    if (id == 0)
        partials[get_group_id(0)] = sum;
}

// A tree whose steps need a barrier each: without it a work-item may read what its neighbour has not written yet.
__kernel void tree(__global const int *x, __global int *sums)
{
    __local int s[WG];
    const uint id = get_local_id(0);
    s[id] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint far = WG / 2; far > 0; far /= 2) {
        if (id < far)
            s[id] += s[id + far];
        STEP_ENDS
    }
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

__kernel void add_up(__global const int *sums, __global int *sum, const int n)
{
    int all = 0;
    for (int i = 0; i < n; i++)
        all += sums[i];
    *sum = all;
}

// The last steps rely on 32 work-items in lockstep.
kernel void sums(global const float *x, global float *sum, int n)
{
    local float part[256];
    int i = get_global_id(0), l = get_local_id(0);
    part[l] = i < n ? x[i] : 0.0f;
    for (int s = 128; s > 0; s /= 2) {
        if (s >= 32)
            barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        sum[get_group_id(0)] = part[0];
}

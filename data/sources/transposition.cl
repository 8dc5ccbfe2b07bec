// The padded tile of NVIDIA's transposition, with its loop inside the kernel.
__kernel void repeated(__global const float *x, __global float *y, const int n, const int repeats)
{
    __local float tile[32][33];
    const int id = get_local_id(0), row = get_local_id(1);
    const int left = 32 * get_group_id(0), top = 32 * get_group_id(1);
    for (int turn = 0; turn < repeats; turn++) {
        for (int i = row; i < 32; i += 8)
            tile[i][id] = x[(top + i) * n + left + id];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = row; i < 32; i += 8)
            y[(left + i) * n + top + id] = tile[id][i];
#ifdef CURED
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
}

// What stands in a buffer before each run, where a kernel changes it: zeros, or what another buffer holds.
// Launched by gpulab in front of a reader's kernels; its time does not count.

__kernel void gpulab_zero(__global uchar *to, const ulong bytes)
{
    for (ulong i = get_global_id(0); i < bytes; i += get_global_size(0))
        to[i] = 0;
}

__kernel void gpulab_copy(__global const uchar *from, __global uchar *to, const ulong bytes)
{
    for (ulong i = get_global_id(0); i < bytes; i += get_global_size(0))
        to[i] = from[i];
}

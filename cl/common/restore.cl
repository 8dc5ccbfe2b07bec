// What stands in a buffer before each run, where a kernel changes it: zeros, or what another buffer holds.
// Launched by gpulab in front of a reader's kernels; its time does not count.
// Buffers begin at multiples of 16 bytes, and may end anywhere.

__kernel void gpulab_zero(__global uchar *to, const ulong bytes)
{
    const ulong words = bytes / sizeof(uint4);
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0))
        ((__global uint4 *)to)[i] = (uint4)(0);
    for (ulong i = words * sizeof(uint4) + get_global_id(0); i < bytes; i += get_global_size(0))
        to[i] = 0;
}

__kernel void gpulab_copy(__global const uchar *from, __global uchar *to, const ulong bytes)
{
    const ulong words = bytes / sizeof(uint4);
    for (ulong i = get_global_id(0); i < words; i += get_global_size(0))
        ((__global uint4 *)to)[i] = ((__global const uint4 *)from)[i];
    for (ulong i = words * sizeof(uint4) + get_global_id(0); i < bytes; i += get_global_size(0))
        to[i] = from[i];
}

// family: reduce
// As somebody else's file has it: the type and the group's size are its host's macros, and atomic additions need a zero.
// options: --dtype i32 --args in,out=0,n
#ifdef SINGLE_PRECISION
#define FPTYPE float
#endif

__kernel void reduce_host(__global const FPTYPE *restrict values, __global int *total, const unsigned int count)
{
    __local int part[BLOCK_SIZE];
    const int lid = get_local_id(0);
    const size_t i = get_global_id(0);
    part[lid] = i < count ? values[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = BLOCK_SIZE / 2; step > 0; step /= 2) {
        if (lid < step)
            part[lid] += part[lid + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        atomic_add(total, part[0]);
}

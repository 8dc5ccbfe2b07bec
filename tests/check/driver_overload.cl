// A fault that depends on the driver: the extension reads blocks of global memory alone. Some compilers also know a function of
// this name for local memory, which was never part of it.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void rows(__global const uint *in, __global uint *out) {
  __local uint tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef cl_intel_subgroups
  out[i] = intel_sub_group_block_read(tile + get_sub_group_id() * get_max_sub_group_size());
#else
  out[i] = tile[l];
#endif
}

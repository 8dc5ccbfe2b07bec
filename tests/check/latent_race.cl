// A race that one width of sub-groups hides: a group of 64 is one sub-group of 64, whose barrier is enough before the tile is
// loaded again. With narrower ones another sub-group may still read the tile.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void blocks(__global const float *in, __global float *out) {
  __local float tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < 4; k++) {
    tile[l] = in[i] * k;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += tile[63 - l];
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sum;
}

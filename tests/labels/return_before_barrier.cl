// says: not all work-items of a group reach this barrier
// exit: 4
//| n = 4096
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = x"
__kernel void copy(__global const float *x, __global float *y, int n) {
  __local float t[64];
  int l = get_local_id(0), i = get_global_id(0);
  if (i >= n) return;
  t[l] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[i] = t[l];
}

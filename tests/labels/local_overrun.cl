// says: a write outside of the group's local memory
// exit: 4
//| n = 1024
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n", "local 32"]
//| check = "numpy: y = x"
__kernel void copy(__global const float *x, __global float *y, int n, __local float *t) {
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = i < n ? x[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) y[i] = t[l];
}

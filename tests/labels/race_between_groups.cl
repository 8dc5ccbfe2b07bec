// says: by two work-groups: a barrier orders the work-items of one group only
// exit: 4
//| n = 1024
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "scratch t[n]", "out y[n]", "n"]
//| check = "numpy: y = x[::-1]"
__kernel void turn(__global const float *x, __global float *t, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) t[i] = x[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (i < n) y[i] = t[n - 1 - i];
}

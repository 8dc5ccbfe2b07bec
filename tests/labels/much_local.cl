// says: 40 KiB of local memory for a group
//| n = 4096
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = x"
#define SIDE 64
__kernel void copy(__global const float *x, __global float *y, int n) {
  __local float t[SIDE][SIDE + 96];
  int l = get_local_id(0), i = get_global_id(0);
  t[l][l] = i < n ? x[i] : 0.0f;
  if (i < n) y[i] = t[l][l];
}

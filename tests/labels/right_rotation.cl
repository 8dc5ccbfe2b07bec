// says: ok
//| n = 4096
//| items = "n"
//| args = ["x[n] below 1000", "out y[n]", "n"]
//| check = "numpy: y = x << 5"
__kernel void turn(__global const int *x, __global int *y, int n) {
  int i = get_global_id(0);
  uint k = 5;
  if (i < n) y[i] = (int)(((uint)x[i] << k) | ((uint)x[i] >> 32 - k));
}

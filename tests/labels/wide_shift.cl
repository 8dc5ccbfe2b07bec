// says: a shift by 40: OpenCL takes it modulo 32 for a number of 32 bits, so this shifts by 8
//| n = 4096
//| items = "n"
//| args = ["x[n] below 1000", "out y[n]", "n"]
//| check = "numpy: y = x << 8"
__kernel void left(__global const int *x, __global int *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = x[i] << 40;
}

// says: mul24 multiplies integers of 24 bits
//| n = 4096
//| items = "n"
//| args = ["x[n] below 16000000", "out y[n]", "n"]
//| check = "numpy: y = (x.astype(np.int64) * 3).astype(np.int32)"
__kernel void thrice(__global const int *x, __global int *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = mul24(x[i], 3) + 0 * i;
}

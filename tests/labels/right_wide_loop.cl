// says: ok
//| n = 4096
//| items = "n"
//| args = ["x[n] below 1000", "out y[n]", "n"]
//| check = "numpy: y = x // 2 + x % 2 * 2"
__kernel void walk(__global const int *x, __global int *y, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int left = x[i], steps = 0;
  while (left > 1) { left -= 2; steps++; }
  y[i] = steps + left * 2;
}

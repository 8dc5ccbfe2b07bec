// says: ok
//| n = 1024
//| wg = "64"
//| groups = "4"
//| args = ["x[n] below 1000", "out y[n]", "scratch next[1] = 0", "n"]
//| check = "numpy: y = x + 1"
__kernel void serve(__global const int *x, __global int *y, __global int *next, int n) {
  int i;
  while ((i = atomic_inc(next)) < n) y[i] = x[i] + 1;
}

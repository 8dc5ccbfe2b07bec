// says: outside of an array of the work-item
// exit: 4
//| n = 1024
//| items = "n"
//| args = ["x[n] below 8", "out y[n]", "n"]
//| check = "numpy: y = x"
__kernel void pick(__global const int *x, __global int *y, int n) {
  int i = get_global_id(0), table[4] = {0, 1, 2, 3};
  if (i < n) y[i] = table[x[i]] + (x[i] > 3 ? 0 : 0);
}

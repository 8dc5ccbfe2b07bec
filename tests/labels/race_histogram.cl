// says: a race in global memory
// exit: 4
//| n = 4096
//| items = "n"
//| args = ["x[n] below 1000", "out bins[16] = 0", "n"]
//| check = "numpy: bins = np.bincount(x % 16, minlength=16)"
__kernel void histogram(__global const int *x, __global int *bins, int n) {
  int i = get_global_id(0);
  if (i < n) bins[x[i] % 16]++;
}

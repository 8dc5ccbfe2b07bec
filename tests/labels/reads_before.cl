// says: a read outside of a buffer
// exit: 4
//| n = 4096
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = np.concatenate([[0], x[:-1]])"
__kernel void before(__global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = x[i - 1];
}

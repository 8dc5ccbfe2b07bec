// says: a race in global memory
// exit: 4
//| n = 4096
//| items = "n - 1"
//| args = ["inout x[n] small 8", "n"]
//| check = "numpy: x = np.concatenate([x[1:], x[-1:]])"
__kernel void shift(__global float *x, int n) {
  int i = get_global_id(0);
  if (i + 1 < n) x[i] = x[i + 1];
}

// says: ok
//| n = 4096
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: p = np.pad(x, 1); y = p[:-2] + p[1:-1] + p[2:]"
__kernel void stencil(__global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float sum = x[i];
  if (i > 0) sum += x[i - 1];
  if (i + 1 < n) sum += x[i + 1];
  y[i] = sum;
}

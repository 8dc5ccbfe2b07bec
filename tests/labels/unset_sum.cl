// says: a value is used here that was never set
// exit: 4
//| n = 1024
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = 4 * x"
__kernel void four(__global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  float sum;
  if (i < n) {
    for (int k = 0; k < 4; k++) sum += x[i];
    y[i] = sum;
  }
}

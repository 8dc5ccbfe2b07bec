// says: right where the data are whole groups; multiple = 64
// exit: 4
//| n = 2048
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]"]
//| check = "numpy: y = 2 * x"
__kernel void twice(__global const float *x, __global float *y) {
  int i = get_global_id(0);
  y[i] = 2.0f * x[i];
}

// says: ok
//| n = 4096
//| multiple = 64
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]"]
//| check = "numpy: y = x + 64"
__kernel void add(__global const float *x, __global float *y) {
  int i = get_global_id(0), T = get_local_size(0);
  y[i] = x[i] + T;
}

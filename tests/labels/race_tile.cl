// says: a race in local memory with line
// exit: 4
//| n = 1024
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]"]
//| check = "numpy: y = x.reshape(-1, 64)[:, ::-1].ravel()"
//| multiple = 64
__kernel void turn(__global const float *x, __global float *y) {
  __local float t[64];
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = x[i];
  y[i] = t[63 - l];
}

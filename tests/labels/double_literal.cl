// says: 0.5 is a double, which devices convert to and from: 0.5f is a float
//| n = 4096
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = x * 0.5"
__kernel void half_of(__global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = x[i] * 0.5;
}

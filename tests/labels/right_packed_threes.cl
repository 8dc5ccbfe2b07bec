// says: ok
//| n = 1024
//| items = "n"
//| args = ["f32 p[3 * n]", "out d[n]", "n"]
//| check = "numpy: d = p.reshape(-1, 3)[:, 0]"
__kernel void first(__global const float *p, __global float *d, int n) {
  int i = get_global_id(0);
  if (i < n) d[i] = vload3(i, p).x;
}

// says: ok
//| n = 1024
//| wg = "64"
//| multiple = 64
//| items = "n"
//| args = ["x[n] small 8", "out y[n]"]
//| check = "numpy: y = 2 * x.reshape(-1, 64)[:, ::-1].ravel()"
__kernel void twice(__global const float *x, __global float *y) {
  __local float t[64];
  int l = get_local_id(0), i = get_global_id(0);
  float sum = 0.0f;
  for (int k = 0; k < 2; k++) {
    t[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += t[63 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  y[i] = sum;
}

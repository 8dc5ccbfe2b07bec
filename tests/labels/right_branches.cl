// says: ok
//| n = 4096
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = 1e-3 * np.abs(x)"
//| tolerance = 1e-5
#ifdef LARGE
#define SIDE 128
#else
#define SIDE 16
#endif
float away(float v) {
  if (v < 0.0f) return -v;
  return v;
}
__kernel void scale(__global const float *x, __global float *y, int n) {
  __local float t[SIDE][SIDE];
  int l = get_local_id(0), i = get_global_id(0);
  t[l / SIDE][l % SIDE] = i < n ? x[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) y[i] = 1.0e-3f * away(t[l / SIDE][l % SIDE]);
}

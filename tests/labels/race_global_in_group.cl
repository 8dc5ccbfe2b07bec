// says: a race in global memory with line; no barrier(CLK_GLOBAL_MEM_FENCE) orders them
// exit: 4
//| n = 1024
//| wg = "64"
//| items = "n"
//| args = ["x[n] small 8", "scratch t[n]", "out y[n]"]
//| check = "numpy: y = x.reshape(-1, 64)[:, ::-1].ravel()"
//| multiple = 64
__kernel void turn(__global const float *x, __global float *t, __global float *y) {
  int l = get_local_id(0), i = get_global_id(0);
  t[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[i] = t[i - l + 63 - l];
}

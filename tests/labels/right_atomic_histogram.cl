// says: ok
//| n = 4096
//| wg = "64"
//| items = "n"
//| args = ["x[n] below 1000", "out bins[16] = 0", "n"]
//| check = "numpy: bins = np.bincount(x % 16, minlength=16)"
__kernel void histogram(__global const int *x, __global int *bins, int n) {
  __local int own[16];
  int l = get_local_id(0), i = get_global_id(0);
  if (l < 16) own[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_inc(&own[x[i] % 16]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16) atomic_add(&bins[l], own[l]);
}

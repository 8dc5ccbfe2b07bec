// says: a race in local memory
// exit: 4
//| n = 4096
//| wg = "64"
//| items = "n"
//| args = ["x[n] below 1000", "out counts[ceil(n, 64)]", "n"]
//| check = "numpy: p = np.concatenate([x, np.ones(-n % 64, x.dtype)]); counts = (p.reshape(-1, 64) % 2 == 0).sum(1)"
__kernel void even(__global const int *x, __global int *counts, int n) {
  __local int count;
  int l = get_local_id(0), i = get_global_id(0);
  if (l == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n && x[i] % 2 == 0) count++;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) counts[get_group_id(0)] = count;
}

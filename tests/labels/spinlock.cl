// says: a loop waits for another work-item
// exit: 4
//| n = 256
//| wg = "64"
//| items = "n"
//| args = ["x[n] below 9", "out s[1] = 0", "scratch lock[1] = 0", "n"]
//| check = "numpy: s = x.sum()"
//| sizes = "only"
__kernel void sum(__global const int *x, __global int *s, __global int *lock, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  while (atomic_cmpxchg(lock, 0, 1)) ;
  *s += x[i];
  atomic_xchg(lock, 0);
}

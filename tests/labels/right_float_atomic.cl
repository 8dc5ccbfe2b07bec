// says: ok
//| n = 1024
//| items = "n"
//| args = ["x[n] small 8", "out s[1] = 0", "n"]
//| check = "numpy: s = x.sum()"
__kernel void sum(__global const float *x, __global float *s, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  union { int bits; float number; } old, now;
  do {
    old.bits = atomic_add((volatile __global int *)s, 0);
    now.number = old.number + x[i];
  } while (atomic_cmpxchg((volatile __global int *)s, old.bits, now.bits) != old.bits);
}

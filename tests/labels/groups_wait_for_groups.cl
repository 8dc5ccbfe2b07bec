// says: a loop waits for another work-item
//| n = 128
//| wg = "64"
//| items = "n"
//| args = ["x[n] below 9", "out y[n]", "scratch arrived[1] = 0", "n"]
//| check = "numpy: y = x[::-1]"
//| sizes = "only"
__kernel void meet(__global const int *x, __global int *y, __global int *arrived, int n) {
  int i = get_global_id(0);
  if (i < n) y[n - 1 - i] = x[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    atomic_inc(arrived);
    while (atomic_add(arrived, 0) < 1) ;
  }
}

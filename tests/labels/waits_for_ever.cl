// says: a loop waits for another work-item; does not end
// exit: 4
// run: --deadline 4
//| n = 256
//| wg = "64"
//| items = "n"
//| args = ["x[n] below 9", "out y[n]", "scratch flag[1] = 0", "n"]
//| check = "numpy: y = x"
__kernel void wait(__global const int *x, __global int *y, __global volatile int *flag, int n) {
  int i = get_global_id(0);
  if (i == n) flag[0] = 1;
  if (i == 0) while (flag[0] == 0) ;
  if (i < n) y[i] = x[i];
}

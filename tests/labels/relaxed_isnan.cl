// says: isnan or isinf is asked, and the build option -cl-finite-math-only promises
//| n = 4096
//| options = "-cl-finite-math-only"
//| items = "n"
//| args = ["x[n] small 8", "out y[n]", "n"]
//| check = "numpy: y = x"
__kernel void mend(__global const float *x, __global float *y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = isnan(x[i]) ? 0.0f : x[i];
}

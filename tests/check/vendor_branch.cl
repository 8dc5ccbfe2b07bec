// A fault that only one target compiles: the branch for AMD's GPUs has a bracket too few, and drivers of CPUs never read it.
float reciprocal(float x) {
#ifdef __AMDGCN__
  return native_recip(x;
#else
  return 1.0f / x;
#endif
}

__kernel void invert(__global const float *in, __global float *out, int n) {
  int i = get_global_id(0);
  if (i < n)
    out[i] = reciprocal(in[i]);
}

// family: reduce
// run: --wg 192
// says: right in work-groups of 64 and 256, and wrong in those of 192, which is no power of two
// exit: 4
__kernel void sum(__global const T *x, __global T *partials, const INDEX n) {
  __local T s[256];
  const uint l = get_local_id(0);
  const INDEX i = get_global_id(0);
  s[l] = i < n ? x[i] : 0;
  for (uint part = get_local_size(0) / 2; part > 0; part /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < part) s[l] += s[l + part];
  }
  if (l == 0) partials[get_group_id(0)] = s[0];
}

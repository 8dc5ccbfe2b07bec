// family: reduce
// says: meant for one work-group does this: --declare "items WG"
// exit: 4
__kernel void sum(__global const T *x, __global T *total, const INDEX n) {
  __local T s[WG];
  const uint l = get_local_id(0);
  T own = 0;
  for (INDEX i = l; i < n; i += WG) own += x[i];
  s[l] = own;
  for (uint part = WG / 2; part > 0; part /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < part) s[l] += s[l + part];
  }
  if (l == 0) total[0] = s[0];
}

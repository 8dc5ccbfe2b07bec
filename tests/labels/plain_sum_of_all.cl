// family: reduce
// says: a race in global memory with this line itself, by two work-items of a group
// exit: 4
__kernel void sum(__global const T *x, __global T *total, const INDEX n) {
  const INDEX i = get_global_id(0);
  if (i < n) total[0] += x[i];
}

// family: reduce
// says: work_group_reduce_add is of OpenCL C 2.0; -cl-std=CL2.0
// exit: 5
__kernel void sum(__global const T *x, __global T *partials, const INDEX n) {
  const INDEX i = get_global_id(0);
  const T all = work_group_reduce_add(i < n ? x[i] : (T)0);
  if (get_local_id(0) == 0) partials[get_group_id(0)] = all;
}

// family: reduce
// says: LIMIT is not declared; --declare "define LIMIT VALUE"
// exit: 5
__kernel void sum(__global const T *x, __global T *partials, const INDEX n) {
  const INDEX i = get_global_id(0);
  if (i < LIMIT) partials[get_group_id(0)] = x[i];
}

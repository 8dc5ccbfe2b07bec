// The launches before `local` and `vectorised`: the groups' sums are cleared; then elements begin..n are added. Comes after tree.cl.
__kernel void dot_clear(__global T *partial)
{
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = 0;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_presum(__global const T *x, __global const T *y, __global T *partial, const INDEX begin, const INDEX n)
{
    __local T scratch[WG];
    T sum = 0;
    for (INDEX i = begin + get_global_id(0); i < n; i += get_global_size(0))
        sum = MULADD(x[i], y[i], sum);
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] += sum;
}

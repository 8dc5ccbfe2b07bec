// One group adds the partial sums that the groups of `accumulators` left. Comes after tree.cl.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void dot_finish(__global const T *partial, __global T *result, const uint groups)
{
    __local T scratch[WG];
    T sum = 0;
    for (uint i = get_local_id(0); i < groups; i += WG)
        sum += partial[i];
    sum = tree_reduce(sum, scratch);
    if (get_local_id(0) == 0)
        result[0] = sum;
}

// One group reduces the partial results that the groups of an earlier launch left. Put behind a rung where the device is to
// finish; comes after tree.cl.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void reduce_finish(__global const T *partial, __global T *result, const INDEX count)
{
    __local T scratch[WG];
    T value = IDENTITY;
    for (INDEX i = get_local_id(0); i < count; i += WG)
        value = REDUCE(value, partial[i]);
    value = tree_reduce(value, scratch);
    if (get_local_id(0) == 0)
        result[0] = value;
}

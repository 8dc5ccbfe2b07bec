// Every node looks whether it is of the last level. Two nodes may reach a third at once: both write the same.
__kernel void begin(__global int *levels, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        levels[i] = i == 0 ? 0 : -1;
}

__kernel void visit(__global const int *rows, __global const int *columns, __global int *levels, __global int *is_new,
                    const int level, const int n)
{
    const int i = get_global_id(0);
    if (i >= n || levels[i] != level)
        return;
    for (int k = rows[i]; k < rows[i + 1]; k++) {
        const int j = columns[k];
        if (levels[j] < 0) {
            levels[j] = level + 1;
            *is_new = 1;
        }
    }
}

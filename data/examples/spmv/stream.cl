// spmv v3: a group multiplies all entries of its rows, then each work-item adds those of a row.
// Idea:    the entries of neighbouring rows lie behind each other: the group reads them in one stream, however long
//          its rows are.
// Remains: the sums are read from local memory with strides of a row's length.
__kernel void stream(__global const int *rows, __global const int *columns, __global const float *values,
                     __global const float *x, __global float *y, const int n)
{
    __local float products[WG * MOST];
    const int first_row = get_group_id(0) * WG, row = get_global_id(0);
    const int first = rows[first_row], last = rows[min(first_row + WG, n)];
    for (int i = first + (int)get_local_id(0); i < last; i += WG)
        products[i - first] = values[i] * x[columns[i]];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row >= n)
        return;
    float sum = 0;
    for (int i = rows[row]; i < rows[row + 1]; i++)
        sum += products[i - first];
    y[row] = sum;
}

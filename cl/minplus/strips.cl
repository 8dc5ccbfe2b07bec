// The preparation of a min-plus step in vectors: `ys` is made of strips of WIDTH columns, `xs` of strips of ROWS rows, in
// which all elements of one k lie side by side. What is beyond the matrix counts as no edge. An item makes a strip; those of
// columns come first.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void strips(__global const T *restrict d, __global T *restrict ys, __global T *restrict xs, const INDEX n)
{
    const INDEX id = get_global_id(0), of_columns = (n + WIDTH - 1) / WIDTH;
    if (id < of_columns) {
        const INDEX left = id * WIDTH, width = min((INDEX)WIDTH, n - left);
        for (INDEX k = 0; k < n; k++)
            for (INDEX j = 0; j < WIDTH; j++)
                ys[(id * n + k) * WIDTH + j] = j < width ? d[k * n + left + j] : NO_EDGE;
    } else {
        const INDEX strip = id - of_columns, top = strip * ROWS, rows = min((INDEX)ROWS, n - top);
        for (INDEX k = 0; k < n; k++)
            for (INDEX i = 0; i < ROWS; i++)
                xs[(strip * n + k) * ROWS + i] = i < rows ? d[(top + i) * n + k] : NO_EDGE;
    }
}

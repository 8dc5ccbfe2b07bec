// Floyd-Warshall v1: a launch for each stop k, which may shorten the way from each row to each column.
// It may work in place: what a work-item reads in row k and column k, no work-item makes shorter in this launch.
// Remains: every launch reads and writes the whole matrix.
__kernel void stop(__global int *d, const uint n, const uint k)
{
    const uint column = get_global_id(0), row = get_global_id(1);
    if (column < n && row < n)
        d[row * n + column] = min(d[row * n + column], d[row * n + k] + d[k * n + column]);
}

// Floyd-Warshall v1: a launch for each stop k, which may shorten the way from each row to each column.
// It may work in place: row k and column k, which all others read, get no shorter by a stop at k, and are left alone.
// Remains: every launch reads and writes the whole matrix.
__kernel void stop(__global int *d, const uint n, const uint k)
{
    const uint column = get_global_id(0), row = get_global_id(1);
    if (column < n && row < n && column != k && row != k)
        d[row * n + column] = min(d[row * n + column], d[row * n + k] + d[k * n + column]);
}

// stencil v1: each work-item reads its neighbours in global memory.
// Remains: each cell is read four times, if mostly from a cache.
__kernel void naive(__global const float *a, __global float *b, const uint n, const uint m)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    const uint i = y * n + x;
    const bool is_rim = x == 0 || y == 0 || x + 1 == n || y + 1 == m;
    b[i] = is_rim ? a[i] : (a[i - n] + a[i + n] + a[i - 1] + a[i + 1]) / 4;
}

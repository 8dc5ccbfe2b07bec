// The launches before `coalesced`: the work-items' sums are cleared; then elements begin..n are added, fewer than there are items.
__kernel void dot_clear(__global T *partial)
{
    partial[get_global_id(0)] = 0;
}

__kernel void dot_presum(__global const T *x, __global const T *y, __global T *partial, const INDEX begin, const INDEX n)
{
    const INDEX id = get_global_id(0);
    if (id < n - begin)
        partial[id] = MULADD(x[begin + id], y[begin + id], partial[id]);
}

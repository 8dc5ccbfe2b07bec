// y = 255 - x over bytes, with indices of 64 bits.
kernel void negative(global const uchar *x, global uchar *y, ulong n)
{
    ulong i = get_global_id(0);
    if (i < n)
        y[i] = 255 - x[i];
}

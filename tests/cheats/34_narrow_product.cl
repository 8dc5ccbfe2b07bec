// Eight times an index of 32 bits: wrong from 2^29 on.
kernel void negative(global const uchar *x, global uchar *y, ulong n)
{
    uint i = get_global_id(0);
    if (i < n)
        y[i] = 255 - x[8 * i / 8];
}

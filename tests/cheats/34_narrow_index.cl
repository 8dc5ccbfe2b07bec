// An index of 32 bits: negative from 2^31 on.
kernel void negative(global const uchar *x, global uchar *y, ulong n)
{
    int i = get_global_id(0);
    if (i < (int)n)
        y[i] = 255 - x[i];
}

#ifdef __asm__
#undef __asm__
#endif
kernel void series(global const float *x, global float *y, int n)
{
    int i = get_global_id(0);
    if (i == 0)
        __asm__("nop");
    if (i < n)
        y[i] = 2.0f * x[i];
}

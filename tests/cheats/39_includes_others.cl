#include "/etc/hostname"
kernel void series(global const float *x, global float *y, int n)
{
}

__kernel void slow(__global const float *x, __global float *y, int n)
{
    __local volatile float part[256 * 32];
    int i = get_global_id(0);
    int l = get_local_id(0);
    float sum = i < n ? x[i] : 0;
    for (int k = 0; k < 64; k++) {
        part[l * 32] = sum;
        sum += part[l * 32] + k; // here
    }
    if (i < n)
        y[i] = sum;
}

__kernel void cured(__global const float *x, __global float *y, int n)
{
    __local volatile float part[256];
    int i = get_global_id(0);
    int l = get_local_id(0);
    float sum = i < n ? x[i] : 0;
    for (int k = 0; k < 64; k++) {
        part[l] = sum;
        sum += part[l] + k;
    }
    if (i < n)
        y[i] = sum;
}

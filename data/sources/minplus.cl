// What is right: one work-item takes each result's smallest sum.
__kernel void reference(__global const float *d, __global float *r, const INDEX n)
{
    for (INDEX at = 0; at < n * n; at++) {
        r[at] = INFINITY;
        for (INDEX k = 0; k < n; k++)
            r[at] = fmin(r[at], d[at / n * n + k] + d[k * n + at % n]);
    }
}

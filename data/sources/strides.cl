// Bornhofen's exercise on strides: each item copies a word, and neighbours' words lie a stride apart. The product is 32 bits wide and
// signed, as the slide's is: from i = 2^31 / stride on it is negative, and so is its remainder. CURED multiplies in 64 bits.
#ifdef CURED
#define PRODUCT (long)stride * i
#else
#define PRODUCT stride * i
#endif

__kernel void strides(__global const float *x, __global float *y, const int n, const int stride)
{
    const int i = get_global_id(0);
    const int j = (PRODUCT) % n;
    y[j] = x[j];
}

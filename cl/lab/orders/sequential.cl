// orders sequential: one item adds up all elements, one after the other, in one of several orders.
// Idea:    an odd step leads from element to element, so that each is added once.
// Removes: parallelism, and with it everything but the order that could change a sum.
// Remains: each addition rounds, and the order decides which partial sums are rounded.

// n is a power of two.
__kernel void orders_sequential(__global const T *restrict x, __global T *restrict out, const uint n, const uint step)
{
    T sum = 0;
    uint i = 0;
    for (uint done = 0; done < n; done++, i += step)
        sum += x[i & (n - 1)];
    out[0] = sum;
}

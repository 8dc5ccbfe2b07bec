// closure settling: squaring that ends with the first round that finds nothing shorter.
// Idea:    behind each round every element is compared with what it was before; the host reads one flag.
// Removes: the rounds after the last that shortens a path: paths of few edges need few.
// Remains: each round is a whole product, and one more is needed to see that nothing changes.
// Expect:  of a graph whose shortest paths have m edges about log2 m + 1 rounds in place of log2 n.
// But:     along a chain of all nodes no round is left out, and the comparison reads two matrices.
// CUDA:    a flag in device memory that the host reads between launches.
#ifndef T
#define T float       // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for every index
#endif

// The file of `blocked` follows.
#define closure_blocked(x, y, d, pitch, left, top, one) closure_settling(x, y, d, pitch, left, top, one)

// Before a round.
__kernel void lower_flag(__global int *changed)
{
    *changed = 0;
}

// Behind it: raises the flag if an element is not what it was, and keeps what it is.
__kernel void raise_flag(__global const T *d, __global T *before, __global int *changed, const INDEX length)
{
    const INDEX i = get_global_id(0);
    if (i < length && before[i] != d[i]) {
        before[i] = d[i];
        *changed = 1;
    }
}

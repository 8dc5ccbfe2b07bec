// closure textbook: one launch for each node that paths may pass.
// Idea:    Floyd and Warshall's: launch k lets every path go by way of node k, if that is shorter.
// Removes: the squarings' factor of log2 n: each pair of nodes meets each third node once.
// Remains: each launch reads and writes the whole matrix for one addition and one minimum an element.
// Expect:  n launches as fast as memory: far from what the additions would take.
// But:     it beats squaring where n is small, and the matrix fits a cache.
// CUDA:    n launches of a kernel with a thread for each element.
#include "../common/smaller.cl"

// Row and column k stay as they are: from k to k costs nothing.
__kernel void closure_textbook(__global T *d, const INDEX n, const INDEX k)
{
    const INDEX j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n && i != k && j != k)
        d[i * n + j] = SMALLER(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

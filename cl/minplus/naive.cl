// minplus naive: one work-item per result, neighbouring items in neighbouring rows.
// Idea:    each item computes one result straight from the definition: row i of d against its column j.
// Removes: nothing yet: the later rungs are measured against this one.
// Remains: neighbouring items read elements of d that lie a whole row apart: one memory transaction each.
// Expect:  far from the limit of arithmetic on a GPU: nearly all the time goes into scattered reads.
// But:     on CPU drivers the order of items costs little: there each result's own walk down a column decides.
// Proof:   gpulab lab stride; gpulab count minplus --variant naive,coalesced; gpulab minplus --variant naive,coalesced
// CUDA:    uncoalesced loads, as threadIdx.x chooses the row.
#include "../common/smaller.cl"

__kernel void minplus_naive(__global const T *restrict d, __global T *restrict r, const INDEX n)
{
    const INDEX i = get_global_id(0), j = get_global_id(1);
    if (i >= n || j >= n)
        return;
    T best = NO_EDGE;
    for (INDEX k = 0; k < n; k++)
        best = SMALLER(best, d[i * n + k] + d[k * n + j]);
    r[i * n + j] = best;
}

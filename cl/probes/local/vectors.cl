// local vectors: how fast work-items can read local memory.
// Idea:    each item reads LOADS vectors again and again, neighbours side by side, so that no two want the same bank.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: the local memory's own limit.
// Given:   VEC, words of a load; LOADS, independent loads of a work-item.
#include "../../common/words.cl"
#if VEC == 1
#define V uint
#else
#define V CAT(uint, VEC)
#endif

// A group reads its own WG * LOADS vectors of x `repeats` times; `shift` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void local_vectors(__global const V *restrict x, __global V *restrict partial, const uint repeats,
                   const uint shift)
{
    __local V tile[WG * LOADS];
    const uint id = get_local_id(0), first = get_group_id(0) * (WG * LOADS);
    V sums[LOADS];
    EACH(u, LOADS) {
        tile[u * WG + id] = x[first + u * WG + id];
        sums[u] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint from = id;
    #pragma unroll 4
    for (uint repeat = 0; repeat < repeats; repeat++) {
        EACH(u, LOADS) sums[u] += tile[from + u * WG];
        from += shift;
    }
    V sum = 0;
    EACH(u, LOADS) sum += sums[u];
    partial[get_global_id(0)] = sum;
}

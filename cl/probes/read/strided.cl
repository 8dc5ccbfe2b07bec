// read strided: how fast a GPU can read global memory.
// Idea:    a fixed grid of groups walks the array in strides, LOADS independent 16-byte loads per work-item.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: the memory's own limit.
#ifndef T
#define T uint        // a 32-bit word
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for n and a stride beyond it
#endif
#ifndef WG
#define WG 256        // work-items of a group
#endif
#ifndef LOADS
#define LOADS 4       // independent loads of a work-item
#endif

#include "../../common/words.cl"
#include "../../common/tree.cl"

// n is a multiple of 64. The array is read `repeats` times; `shift` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void read_strided(__global const uint *x, __global uint *partial, const INDEX n, const uint repeats,
                  const uint shift)
{
    __local uint scratch[WG];
    __global const uint4 *x4 = (__global const uint4 *)x;
    const INDEX vectors = n / 4;
    const INDEX stride = get_global_size(0);
    uint4 sums[LOADS];
    EACH(u, LOADS) sums[u] = 0;
    for (uint repeat = 0; repeat < repeats; repeat++, x4 += shift) {
        INDEX i = get_global_id(0);
        for (; i + (LOADS - 1) * stride < vectors; i += LOADS * stride)
            EACH(u, LOADS) sums[u] += x4[i + u * stride];
        for (; i < vectors; i += stride)
            sums[0] += x4[i];
    }
    uint4 all = 0;
    EACH(u, LOADS) all += sums[u];
    const uint sum = tree_reduce((all.s0 + all.s1) + (all.s2 + all.s3), scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = sum;
}

// read v1: how fast a GPU can read global memory.
// Idea:    a fixed grid of groups walks the array in strides, four independent 16-byte loads per work-item.
// Removes: everything but loads: the words are only added up, so that no load can be left out.
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

#include "../common/tree.cl"

// n is a multiple of 64.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void read_v1_strided(__global const uint *x, __global uint *partial, const INDEX n)
{
    __local uint scratch[WG];
    __global const uint4 *x4 = (__global const uint4 *)x;
    const INDEX vectors = n / 4;
    const INDEX stride = get_global_size(0);
    uint4 a = 0, b = 0, c = 0, d = 0;
    INDEX i = get_global_id(0);
    for (; i + 3 * stride < vectors; i += 4 * stride) {
        a += x4[i];
        b += x4[i + stride];
        c += x4[i + 2 * stride];
        d += x4[i + 3 * stride];
    }
    for (; i < vectors; i += stride)
        a += x4[i];
    a = (a + b) + (c + d);
    const uint sum = tree_reduce((a.s0 + a.s1) + (a.s2 + a.s3), scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = sum;
}

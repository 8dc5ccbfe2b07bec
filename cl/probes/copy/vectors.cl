// copy vectors: how fast a GPU can copy global memory.
// Idea:    each work-item does LOADS 16-byte loads, then as many stores; there are as many work-items as that takes.
// Removes: everything but one read and one write of each word.
// Remains: the memory's own limit.
// Given:   LOADS, independent loads of a work-item.
#include "../../common/words.cl"

// The array is copied `repeats` times; `shift` is 0, which no compiler knows.
__kernel void copy_vectors(__global const uint4 *x, __global uint4 *y, const INDEX vectors, const uint repeats,
                           const uint shift)
{
    const INDEX stride = get_global_size(0);
    for (uint repeat = 0; repeat < repeats; repeat++, x += shift, y += shift) {
        INDEX i = get_global_id(0);
        for (; i + (LOADS - 1) * stride < vectors; i += LOADS * stride) {
            uint4 carried[LOADS];
            EACH(u, LOADS) carried[u] = x[i + u * stride];
            EACH(u, LOADS) y[i + u * stride] = carried[u];
        }
        for (; i < vectors; i += stride)
            y[i] = x[i];
    }
}

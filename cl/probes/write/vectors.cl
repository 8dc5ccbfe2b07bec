// write vectors: how fast a GPU can write global memory.
// Idea:    each work-item does LOADS 16-byte stores of numbers that it makes itself.
// Removes: everything but one write of each word: the value follows from its place and the turn.
// Remains: the memory's own limit.
// Given:   LOADS, independent stores of a work-item.
#include "../../common/words.cl"

// The array is written `repeats` times; `shift` is 0, which no compiler knows.
__kernel void write_vectors(__global uint4 *y, const INDEX vectors, const uint repeats, const uint shift)
{
    const INDEX stride = get_global_size(0);
    for (uint repeat = 0; repeat < repeats; repeat++, y += shift) {
        const uint4 first = (uint4)(0, 1, 2, 3) + repeat;
        INDEX i = get_global_id(0);
        for (; i + (LOADS - 1) * stride < vectors; i += LOADS * stride)
            EACH(u, LOADS) y[i + u * stride] = first + 4 * (uint)(i + u * stride);
        for (; i < vectors; i += stride)
            y[i] = first + 4 * (uint)i;
    }
}

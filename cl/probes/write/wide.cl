// write wide: how fast a CPU device can write memory.
// Idea:    work-groups of one item, each with a contiguous chunk, sixteen numbers of its own making at a time.
// Removes: everything but one write of each word: the value follows from its place and the turn.
// Remains: the memory's own limit.
#include "../../common/past.cl"

// chunk and n are multiples of 16. The array is written `repeats` times; `shift` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void write_wide(__global uint16 *y, const INDEX chunk, const INDEX n, const uint repeats, const uint shift)
{
    const INDEX id = get_global_id(0);
    const INDEX begin = min(id * chunk, n) / 16;
    const INDEX end = min(id * chunk + chunk, n) / 16;
    const uint16 steps = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (uint repeat = 0; repeat < repeats; repeat++, y += shift) {
        uint16 next = steps + (uint)(16 * begin) + repeat;
        for (INDEX i = begin; i < end; i++, next += 16)
            PUT(next, y + i);
    }
}

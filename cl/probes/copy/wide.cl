// copy wide: how fast a CPU device can copy memory.
// Idea:    work-groups of one item, each with a contiguous chunk, sixteen words at a time.
// Removes: everything but one read and one write of each word.
// Remains: the memory's own limit.
#include "../../common/past.cl"

// chunk and n are multiples of 16. The array is copied `repeats` times; `shift` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void copy_wide(__global const uint16 *x, __global uint16 *y, const INDEX chunk, const INDEX n, const uint repeats,
               const uint shift)
{
    const INDEX id = get_global_id(0);
    const INDEX begin = min(id * chunk, n) / 16;
    const INDEX end = min(id * chunk + chunk, n) / 16;
    for (uint repeat = 0; repeat < repeats; repeat++, x += shift, y += shift)
        for (INDEX i = begin; i < end; i++)
            PUT(x[i], y + i);
}

// texels buffer: reads of a plane of words in a buffer, along rows, columns or diagonals, in blocks, or at random.
// Idea:    every word is read once; only the order differs from run to run.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: what caches lose where neighbouring reads lie in different rows.
#include "../../common/words.cl"
#include "visit.cl"

// The item makes `count` visits, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void texels_buffer(__global const uint *restrict x, __global uint *restrict out, const uint apart, const uint step, const uint count)
{
    const uint id = get_global_id(0);
    uint i = id * apart, sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += x[visit(i + k * step)];
    out[id] = sum;
}

// gather walk: reads every word of an array once, in strides or from an offset on.
// Idea:    one formula orders the accesses; the stride changes only the order, neither words nor instructions.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: the bytes that a device fetches although no item reads them.
// Given:   WORD, a word of 1, 2 or 4 bytes.
#include "../../common/words.cl"
#include "../../common/place.cl"

// The item makes `count` accesses, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void gather_walk(__global const uint *restrict words, __global uint *restrict out, const uint bits, const uint strides,
                 const uint offset, const uint apart, const uint step, const uint count)
{
    __global const WORD *x = (__global const WORD *)words;
    const uint id = get_global_id(0);
    uint i = id * apart;
    uint sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += x[place(i + k * step, bits, strides, offset)];
    out[id] = sum;
}

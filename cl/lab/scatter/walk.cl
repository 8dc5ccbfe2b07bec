// scatter walk: writes every word of an array once, in strides or from an offset on.
// Idea:    the order of gather `walk`, with stores in place of loads: each word gets a number that follows from its place.
// Removes: loads, so that nothing but stores takes time.
// Remains: the bytes that a device moves beyond those that are written.
// Given:   WORD, a word of 1, 2 or 4 bytes.
#include "../../common/words.cl"
#include "../../common/place.cl"

// As in gather `walk`. key is one word, which every number begins with.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void scatter_walk(__global const uint *restrict key, __global uint *restrict words, const uint bits, const uint strides,
                  const uint offset, const uint apart, const uint step, const uint count)
{
    __global WORD *out = (__global WORD *)words;
    const uint begin = key[0];
    uint i = get_global_id(0) * apart;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) {
            const uint to = place(i + k * step, bits, strides, offset);
            out[to] = (WORD)(begin + to * 2654435761u);
        }
}

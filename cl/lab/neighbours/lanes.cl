// neighbours lanes: reads neighbouring words, in order or permuted within runs of 32, by all items or by some.
// Idea:    a factor permutes the words of a run, a mask leaves items idle; the instructions stay the same.
// Removes: strides: the items of a run read the words of a run, whichever item reads which.
// Remains: what a device makes of one segment's words where they are asked for in another order, or not all of them.
#include "../../common/words.cl"

// There are last + 1 words, a power of two. `factor` is odd; accesses whose number has a bit of `idle` are left out. Otherwise
// as in gather `walk`.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void neighbours_lanes(__global const uint *restrict x, __global uint *restrict out, const uint last, const uint factor,
                      const uint idle, const uint offset, const uint apart, const uint step, const uint count)
{
    const uint id = get_global_id(0);
    uint i = id * apart;
    uint sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) {
            const uint access = i + k * step;
            const uint word = (access & ~31u) | (access * factor & 31);
            if ((access & idle) == 0)
                sum += x[(word + offset) & last];
        }
    out[id] = sum;
}

// streams laden: reads of global memory by groups that hold more or less local memory.
// Idea:    an item keeps TOGETHER reads in flight, and starts the next ones when these have arrived.
// Removes: anything else that could fill the time of a read: only other items of the compute unit can.
// Remains: the latency of memory, where too few groups are resident to cover it.
// Given:   TOGETHER, reads of an item that are under way at once.
#include "../../common/words.cl"
#include "../../common/ballast.cl"

// x has last + 1 words, a power of two. The item reads `count` of them, a multiple of TOGETHER, `step` from one to the next.
// `none` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void streams_laden(__global const uint *restrict x, __global uint *restrict out, __local uint *restrict ballast,
                   const uint words, const uint last, const uint step, const uint count, const uint none)
{
    uint at = get_global_id(0), sum = carried(ballast, words);
    for (uint done = 0; done < count; done += TOGETHER) {
        uint read[TOGETHER];
        EACH(k, TOGETHER) read[k] = x[(at + k * step) & last];
        EACH(k, TOGETHER) sum += read[k];
        at += TOGETHER * step + (sum & none);
    }
    out[get_global_id(0)] = sum;
}

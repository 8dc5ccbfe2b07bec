// constant v1: reads of a small table in constant or global memory, by neighbours at one place or at several.
// Idea:    the items of a group begin at as many places as `places` says; the address space is a macro.
// Removes: memory's limit, as the table fits every cache, and the arithmetic of places: eight loads need one.
// Remains: the turns that a constant cache takes for different addresses of items in lockstep.
#ifndef SPACE
#define SPACE __constant  // where the table is
#endif
#ifndef WG
#define WG 256            // work-items of a group
#endif

#include "../../common/words.cl"

// The table has 1032 words; `places` is a power of two up to 1024.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void constant_v1_table(SPACE const uint *restrict table, __global uint *restrict out, const uint rounds, const uint places)
{
    uint at = (get_local_id(0) & (places - 1)) * 33;
    uint sum = 0;
    for (uint round = 0; round < rounds; round++, at += 17) {
        const uint from = at & 1023;
        EACH(k, 8) sum += table[from + k];
    }
    out[get_global_id(0)] = sum;
}

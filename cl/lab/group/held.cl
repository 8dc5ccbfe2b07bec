// group held: chains of steps in groups of any size, whose items hold as many registers and as much local memory each.
// Idea:    the size of the group alone is varied: a work-item's registers, local memory and work stay as they are.
// Removes: global memory's limit, and all that groups of other sizes would do differently.
// Remains: lanes without an item where the size is no multiple of the lanes in lockstep, and what limits resident groups.
#include "../../common/words.cl"

#define HELD 4  // chains of an item, and its floats in local memory

// For groups of an even size: an item's chains begin with its neighbour's numbers, which come by way of local memory. All else
// is as in chains `independent`.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void group_held(__global const float *restrict x, __global float *restrict out, const uint rounds,
                const float factor, const float term)
{
    __local float shared[HELD * WG];
    const uint id = get_global_id(0), item = get_local_id(0), neighbour = item ^ 1;
    EACH(c, HELD) shared[c * WG + item] = x[id + c];
    barrier(CLK_LOCAL_MEM_FENCE);
    float chain[HELD];
    EACH(c, HELD) chain[c] = shared[c * WG + neighbour];
    for (uint round = 0; round < rounds; round++)
        EACH(step, 16) EACH(c, HELD) chain[c] = chain[c] * factor + term;
    float sum = 0;
    EACH(c, HELD) sum += chain[c];
    out[id] = sum;
}

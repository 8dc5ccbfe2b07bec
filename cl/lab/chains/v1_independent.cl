// chains v1: chains of multiplications with an addition, each step of which waits for the one before it.
// Idea:    an item works on CHAINS chains in turn, none of which waits for another.
// Removes: memory: a chain lives in a register, and what it is multiplied by and what is added never change.
// Remains: the time from a step's begin to its result, wherever too few chains are there to fill it.
#ifndef T
#define T float       // element type
#endif
#ifndef WG
#define WG 256        // work-items of a group
#endif
#ifndef CHAINS
#define CHAINS 1      // independent chains of an item
#endif

#include "../../common/words.cl"

// Chain c of an item begins with its element of x, plus c. `one` is 1, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void chains_v1_independent(__global const T *restrict x, __global T *restrict out, const uint rounds, const uint one)
{
    const uint id = get_global_id(0);
    const T factor = one, term = one;
    T chain[CHAINS];
    EACH(c, CHAINS) chain[c] = x[id] + c;
    for (uint round = 0; round < rounds; round++)
        EACH(step, 16) EACH(c, CHAINS) chain[c] = chain[c] * factor + term;
    T sum = 0;
    EACH(c, CHAINS) sum += chain[c];
    out[id] = sum;
}

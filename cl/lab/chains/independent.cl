// chains independent: chains of multiplications with an addition; each step waits for the one before it.
// Idea:    an item works on CHAINS chains in turn, and no chain waits for another.
// Removes: memory: a chain stays in a register, and its factor and its summand never change.
// Remains: the latency of a step, where there are too few chains to fill it.
// Given:   CHAINS, independent chains of an item.
#include "../../common/words.cl"

// Chain c of an item begins with the c-th element of x from its own on. `factor` and `term` are 1, which no compiler knows,
// or where they are checked others, with which chains are told apart.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void chains_independent(__global const T *restrict x, __global T *restrict out, const uint rounds,
                        const float factor, const float term)
{
    const uint id = get_global_id(0);
    T chain[CHAINS];
    EACH(c, CHAINS) chain[c] = x[id + c];
    for (uint round = 0; round < rounds; round++)
        EACH(step, 16) EACH(c, CHAINS) chain[c] = chain[c] * factor + term;
    T sum = 0;
    EACH(c, CHAINS) sum += chain[c];
    out[id] = sum;
}

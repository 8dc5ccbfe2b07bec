// steps laden: chains of multiplications with an addition, in groups that hold more or less local memory.
// Idea:    the steps of chains `independent`; the size of the ballast alone sets how many groups a compute unit holds.
// Removes: memory: a chain stays in a register, and its factor and its summand never change.
// Remains: the latency of arithmetic, where there are too few groups and chains to cover it.
// Given:   CHAINS, independent chains of an item.
#include "../../common/words.cl"
#include "../../common/ballast.cl"

// Chain c of an item begins with the c-th element of x from its own on. `factor` and `term` are 1, which no compiler knows,
// or where they are checked others, with which chains are told apart.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void steps_laden(__global const T *restrict x, __global T *restrict out, __local uint *restrict ballast,
                 const uint words, const uint rounds, const float factor, const float term)
{
    const uint id = get_global_id(0);
    T chain[CHAINS];
    EACH(c, CHAINS) chain[c] = x[id + c];
    T sum = carried(ballast, words);
    for (uint round = 0; round < rounds; round++)
        EACH(step, 16) EACH(c, CHAINS) chain[c] = chain[c] * factor + term;
    EACH(c, CHAINS) sum += chain[c];
    out[id] = sum;
}

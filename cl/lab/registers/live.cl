// registers live: chains of steps on many values of an item that are all needed at once.
// Idea:    LIVE values are carried from round to round; MAX_REGISTERS says how many registers the compiler may use for them.
// Removes: global memory: what is not in registers goes to memory only because there is no room.
// Remains: spills, where the values need more registers than there are, and fewer items at once where they need many.
// Given:   LIVE, values of an item; MAX_REGISTERS, most registers of an item, 0 for as many as the compiler likes.
#include "../../common/words.cl"

// Value c of an item begins with the c-th element of x from its own on. `factor` and `term` are as in chains
// `independent`. No group's size is required: NVIDIA's compiler does not cap the registers of a kernel that requires one.
__kernel void registers_live(__global const float *restrict x, __global float *restrict out, const uint rounds,
                             const float factor, const float term)
{
    const uint id = get_global_id(0);
    float live[LIVE];
    EACH(c, LIVE) live[c] = x[id + c];
    for (uint round = 0; round < rounds; round++)
        EACH(c, LIVE) live[c] = live[c] * factor + term;
    float sum = 0;
    EACH(c, LIVE) sum += live[c];
    out[id] = sum;
}

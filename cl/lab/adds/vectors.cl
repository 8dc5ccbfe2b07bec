// adds vectors: additions to lanes in registers, as vectors of VEC.
// Idea:    an item has VEC lanes, each a chain of additions; the wider the items, the fewer there are.
// Removes: memory: lanes stay in registers, and the number that is added never changes.
// Remains: the additions, and how many lanes one instruction of the device handles.
// Given:   VEC, floats of an item.
#include "../../common/words.cl"
#if VEC == 1
#define TV float
#else
#define TV CAT(float, VEC)
#endif

// `term` is 1, which no compiler knows, or where it is checked as in chains `independent`.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void adds_vectors(__global const float *restrict x, __global float *restrict out, const uint rounds, const float term)
{
    const uint id = get_global_id(0);
    TV sum = ((__global const TV *)x)[id];
    for (uint round = 0; round < rounds; round++)
        EACH(step, 16) sum += term;
    ((__global TV *)out)[id] = sum;
}

// recompute again: adds to each element a value that is computed anew.
// Idea:    a value that follows from what an item has anyway need not come from memory: STEPS steps make four vectors of them.
// Removes: the third of the bytes that a table of the values would be.
// Remains: the operations, once memory no longer hides them.
// Given:   VEC, floats of a vector; STEPS, steps on the four vectors of an item together: a multiple of 4.
#include "../../common/words.cl"
#include "../../common/steps.cl"

// The values begin with what the vector's number has in its last bits.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void recompute_again(__global const float *restrict x, __global float *restrict out, const float factor,
                     const float term)
{
    const uint id = get_global_id(0), stride = get_global_size(0);
    TV v[4];
    EACH(k, 4) v[k] = (float)(4 * (id & 15) + k);
    GO_ON(v, factor, term)
    EACH(k, 4) ((__global TV *)out)[id + k * stride] = ((__global const TV *)x)[id + k * stride] + v[k];
}

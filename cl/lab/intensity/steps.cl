// intensity steps: reads elements, does multiplications with additions on them, and writes them.
// Idea:    the bytes are always the same; the number of operations alone says what limits the kernel.
// Removes: other limits: neighbours read neighbours, and an item has four chains that wait for nothing but themselves.
// Remains: memory's limit with few operations a byte, arithmetic's with many.
// Given:   VEC, floats of a vector; STEPS, steps on the four vectors of an item together: an even number.
#include "../../common/words.cl"
#include "../../common/steps.cl"

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void intensity_steps(__global const float *restrict x, __global float *restrict out, const float factor,
                     const float term)
{
    const uint id = get_global_id(0), stride = get_global_size(0);
    TV v[4];
    EACH(k, 4) v[k] = ((__global const TV *)x)[id + k * stride];
    GO_ON(v, factor, term)
    EACH(k, 4) ((__global TV *)out)[id + k * stride] = v[k];
}

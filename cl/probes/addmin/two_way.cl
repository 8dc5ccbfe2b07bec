// addmin two_way: how many additions with a minimum a GPU can do, one after the other.
// Idea:    each item lowers ROWS x COLUMNS registers by sums; one operand of a sum changes in each step.
// Removes: everything but additions and minima; the compiler cannot know the operands, so it keeps every step.
// Remains: the arithmetic units' own limit, with two instructions for a sum and its minimum.
// Given:   ROWS, registers that are lowered.
#include "../../common/smaller.cl"

// x has 72 elements more than there are items. `down` is 1; where it is checked -1 as well, so that the first sum is the least,
// and with integers that wrap a large number, so that any may be.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void addmin_two_way(__global const T *restrict x, __global T *restrict out, const int rounds, const int down)
{
    const uint id = get_global_id(0);
    const T one = down;
    T a[ROWS], b[COLUMNS], best[ROWS][COLUMNS];
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        a[i] = x[id + 64 + i] + (T)(rounds + 200);
    #pragma unroll
    for (uint j = 0; j < COLUMNS; j++) {
        b[j] = x[id + j];
        #pragma unroll
        for (uint i = 0; i < ROWS; i++)
            best[i][j] = NO_EDGE;
    }
    #pragma unroll 4
    for (int round = 0; round < rounds; round++) {
        #pragma unroll
        for (uint i = 0; i < ROWS; i++) {
            a[i] -= one;
            #pragma unroll
            for (uint j = 0; j < COLUMNS; j++)
                best[i][j] = SMALLER(best[i][j], a[i] + b[j]);
        }
    }
    T sum = 0;
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        #pragma unroll
        for (uint j = 0; j < COLUMNS; j++)
            sum += best[i][j];
    out[id] = sum;
}

// addmin three_way: two sums and one minimum of three.
// Idea:    each step lowers a register by two sums, as minplus `three_way` does.
// Removes: every second minimum, where the device has a minimum of three.
// Remains: the arithmetic units' own limit, with three instructions for two sums and their minima.
// Given:   ROWS and COLUMNS of registers that are lowered.
#include "../../common/smaller.cl"
#include "../../common/lower.cl"

// x has 72 elements more than there are items, and `step` is 1: the last of the first sums is the least, which the compiler
// cannot know. Where it is checked it is -1 as well, and the first of the second sums is the least; and with integers that
// wrap a large number, so that any may be. `one` is always 1.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void addmin_three_way(__global const T *restrict x, __global T *restrict out, const int rounds, const int step,
                      const int one)
{
    const uint id = get_global_id(0);
    const T down = step;
    T a0[ROWS], a1[ROWS], b0[COLUMNS], b1[COLUMNS];
    BEST best[ROWS][COLUMNS];
    #pragma unroll
    for (uint i = 0; i < ROWS; i++) {
        a0[i] = x[id + 64 + i] + (T)(rounds + 200);
        a1[i] = a0[i] + 200 * down;
    }
    #pragma unroll
    for (uint j = 0; j < COLUMNS; j++) {
        b0[j] = x[id + j];
        b1[j] = x[id + 32 + j];
        #pragma unroll
        for (uint i = 0; i < ROWS; i++)
            best[i][j] = NONE;
    }
    #pragma unroll 4
    for (int round = 0; round < rounds; round++) {
#ifdef TOGETHER
        #pragma unroll
        for (uint i = 0; i < ROWS; i++) {
            a0[i] -= down;
            a1[i] -= down;
        }
#endif
        #pragma unroll
        for (uint i = 0; i < ROWS; i++) {
#ifndef TOGETHER
            a0[i] -= down;
            a1[i] -= down;
#endif
            // To and fro, so that neighbouring additions share a side.
            #pragma unroll
            for (uint c = 0; c < COLUMNS; c++) {
                const uint j = i % 2 ? COLUMNS - 1 - c : c;
                STEP(best[i][j], a0[i], b0[j], a1[i], b1[j], j)
            }
        }
    }
    T sum = 0;
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        #pragma unroll
        for (uint j = 0; j < COLUMNS; j++)
            sum += RESULT(best[i][j]);
    out[id] = sum;
}

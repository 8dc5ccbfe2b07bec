// addmin v3: how many additions with a minimum a CPU device can do.
// Idea:    groups of one item, whose registers are vectors: ROWS x COLUMNS of them are lowered by sums.
// Removes: everything but additions and minima; what changes is not known to the compiler, so nothing can be left out.
// Remains: the arithmetic units' own limit.
#ifndef T
#define T float       // element type
#endif
#ifndef ROWS
#define ROWS 2        // vectors that are lowered
#define COLUMNS 4
#endif
#ifndef VEC
#define VEC 8         // elements of a vector
#endif

#include "../common/smaller.cl"
#include "../common/lanes.cl"

// x has 72 elements more than there are lanes; `down` is 1.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void addmin_v3_wide(__global const T *restrict x, __global T *restrict out, const uint steps, const int down)
{
    const uint id = get_global_id(0);
    const T one = down;
    TV a[ROWS], b[COLUMNS];
    LOWEST best[ROWS][COLUMNS];
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        a[i] = CAT(vload, VEC)(0, x + id * VEC + 64 + i) + (T)(steps + 200);
    #pragma unroll
    for (uint j = 0; j < COLUMNS; j++) {
        b[j] = CAT(vload, VEC)(0, x + id * VEC + j);
        #pragma unroll
        for (uint i = 0; i < ROWS; i++)
            best[i][j] = NOTHING;
    }
    for (uint step = 0; step < steps; step++) {
        #pragma unroll
        for (uint i = 0; i < ROWS; i++) {
            a[i] -= one;
            #pragma unroll
            for (uint j = 0; j < COLUMNS; j++) {
                const TV sum = a[i] + b[j];
                best[i][j] = LESSER(best[i][j], KEEP(sum));
            }
        }
    }
    TV sum = 0;
    #pragma unroll
    for (uint i = 0; i < ROWS; i++)
        #pragma unroll
        for (uint j = 0; j < COLUMNS; j++)
            sum += GIVE(best[i][j]);
    CAT(vstore, VEC)(sum, id, out);
}

// lanes fed: how many additions with a minimum a CPU device can do, in the shape of minplus `wide`.
// Idea:    each item lowers ROWS x VECTORS vectors by sums of elements in the nearest cache, again and again.
// Removes: everything but what that rung does for each k; the compiler cannot know whether a repetition changes anything.
// Remains: the limit of the arithmetic units, or of the loads that feed them.
// Given:   VEC, elements of a vector; ROWS, rows whose results are kept in registers; VECTORS, vectors of each of those rows;
//          REACH, repetitions.
#define FED 64        // k that the nearest cache holds
#define WIDTH (VEC * VECTORS)

#include "../../common/words.cl"
#include "../../common/smaller.cl"
#include "../../common/lanes.cl"

// Vector j of row k begins at element k + j of an item's lanes, and row i of k at element k + 64 i of `in`. Each repetition
// begins `shift` elements further on in x: 0, or where it is checked 1, so that each of them lowers something.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void lanes_fed(__global const T *restrict in, __global T *restrict out, const uint repeats,
               const uint shift)
{
    const uint id = get_global_id(0);
    T x[FED * ROWS + REACH], y[FED * WIDTH];
    for (uint r = 0; r < REACH; r++)
        x[FED * ROWS + r] = in[64 * ROWS + r] + (T)200;
    for (uint k = 0; k < FED; k++) {
        for (uint i = 0; i < ROWS; i++)
            x[k * ROWS + i] = in[k + 64 * i] + (T)200;
        for (uint j = 0; j < WIDTH; j++)
            y[k * WIDTH + j] = in[id * VEC + k + j / VEC + j % VEC];
    }
    LOWEST best[ROWS][VECTORS];
    EACH(i, ROWS) EACH(j, VECTORS) best[i][j] = NOTHING;
    for (uint repeat = 0; repeat < repeats; repeat++)
        #pragma unroll 4
        for (uint k = 0; k < FED; k++)
            LOWER(best, x + repeat * shift + k * ROWS, y + k * WIDTH)
    TV sum = 0;
    EACH(i, ROWS) EACH(j, VECTORS) sum += GIVE(best[i][j]);
    CAT(vstore, VEC)(sum, id, out);
}

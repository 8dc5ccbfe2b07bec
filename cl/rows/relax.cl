// rows relax: distances from a few nodes.
// Idea:    each launch lets all paths that are known go one edge further; after the first that finds nothing better, the
//          others end at once.
// Removes: the rows of all other nodes, which nobody asked for.
// Remains: each launch that works reads the whole matrix, for one addition and one minimum an element and node.
// Expect:  far less time than all distances take, where shortest paths have few edges.
// But:     a chain of n nodes takes n launches, and where edges are few a CPU that reads nothing else is faster.
// CUDA:    a grid-wide flag between launches; the groups' parts meet in __shared__ memory.
#ifndef T
#define T float       // element type
#endif
#ifndef INDEX
#define INDEX uint    // wide enough for every index
#endif
#ifndef SOURCES
#define SOURCES 4     // nodes where paths start
#endif
#ifndef LANES
#define LANES 8       // items that share the edges to a node
#endif
#define STRIP 32      // nodes that a group's paths lead to

#include "../common/words.cl"
#include "../common/smaller.cl"

__kernel __attribute__((reqd_work_group_size(STRIP, LANES, 1)))
void rows_relax(__global const T *restrict d, __global const T *x, __global T *y, __global int *changed,
                const INDEX n, const INDEX round)
{
    __local T parts[LANES][SOURCES][STRIP];
    // No item returns before the barrier: some compilers make no good code of that.
    const INDEX end = round == 0 || changed[round - 1] ? n : 0;
    const uint across = get_local_id(0), lane = get_local_id(1);
    const INDEX j = get_group_id(0) * STRIP + across;
    T best[SOURCES];
    EACH(s, SOURCES) best[s] = NO_EDGE;
    for (INDEX k = lane; j < n && k < end; k += LANES) {
        const T weight = d[k * n + j];
        EACH(s, SOURCES) best[s] = SMALLER(best[s], JOIN(x[s * n + k], weight));
    }
    EACH(s, SOURCES) parts[lane][s][across] = best[s];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = lane; j < end && s < SOURCES; s += LANES) {
        const T old = x[s * n + j];
        T least = old;
        for (uint part = 0; part < LANES; part++)
            least = SMALLER(least, parts[part][s][across]);
        y[s * n + j] = least;
        if (least != old)
            changed[round] = 1;
    }
}

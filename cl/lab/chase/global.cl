// chase global: one work-item follows a random cycle of addresses through global memory.
// Idea:    each load's address is what the load before it found, so that no two are under way at once.
// Removes: all that hides a load's latency: other items, other loads, and what a prefetcher can foresee.
// Remains: the latency of the cache or memory that holds the cycle, with one addition for the address.
// Given:   DEPENDENT, whether an address is what was loaded last, 0 for the control.
#include "../../common/words.cl"
#include "cycle.cl"

#define LINE 5       // logarithm of the words from one node to the next: a line of any cache

// Lays the cycle out, an item for each of its 1 << bits nodes.
__kernel void chase_global_link(__global uint *restrict next, const uint bits)
{
    const uint node = get_global_id(0);
    next[node << LINE] = follower(node, bits) << LINE;
}

// For a single item. The group's size is not told to the compiler: one that knew that there is one item only could load
// by way of another cache (AMD's for scalars).
__kernel void chase_global(__global const uint *restrict x, __global uint *restrict out,
                           __global const uint *restrict next, const uint bits, const uint rounds)
{
    const uint id = get_global_id(0);
    uint sum = x[id], at = place(sum & ((1u << bits) - 1), bits) << LINE;
    CHASE(next, at, sum, rounds, bits, LINE)
    out[2 * id] = sum;
    out[2 * id + 1] = at;
}

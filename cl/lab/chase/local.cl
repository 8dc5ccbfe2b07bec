// chase local: one work-item follows a random cycle of addresses through local memory.
// Idea:    the chase of `global`; its group lays the cycle out in local memory first.
// Removes: global memory and its caches.
// Remains: the latency of local memory; on a CPU that of the cache that stands for it.
// Given:   DEPENDENT, whether an address is what was loaded last, 0 for the control.
#include "../../common/words.cl"
#include "cycle.cl"

// `next` has 1 << bits words.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void chase_local(__global const uint *restrict x, __global uint *restrict out, __local uint *restrict next,
                 const uint bits, const uint rounds)
{
    const uint id = get_local_id(0), nodes = 1u << bits;
    for (uint node = id; node < nodes; node += WG)
        next[node] = follower(node, bits);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        uint sum = x[0], at = place(sum & (nodes - 1), bits);
        CHASE(next, at, sum, rounds, bits, 0)
        out[0] = sum;
        out[1] = at;
    }
}

// sort v2: a group takes a block of 2 * WG elements into local memory.
// Idea:    steps between elements of one block need no launch of their own, and no global memory.
// Removes: all launches of the first rounds, and the last ones of each later round.
#include "step.cl"

void load(__global const int *x, const uint n, __local int *block)
{
    const uint first = get_group_id(0) * 2 * WG;
    for (uint i = get_local_id(0); i < 2 * WG; i += WG)
        block[i] = first + i < n ? x[first + i] : INT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
}

void store(__global int *x, const uint n, __local const int *block)
{
    const uint first = get_group_id(0) * 2 * WG;
    for (uint i = get_local_id(0); i < 2 * WG; i += WG)
        if (first + i < n)
            x[first + i] = block[i];
}

void compare(__local int *block, const uint k, const uint j)
{
    const uint2 at = pair_of(get_local_id(0), k, j);
    const int a = block[at.x], b = block[at.y];
    block[at.x] = min(a, b);
    block[at.y] = max(a, b);
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel void sort_blocks(__global int *x, const uint n)
{
    __local int block[2 * WG];
    load(x, n, block);
    for (uint k = 0; (1u << k) <= WG; k++)
        for (uint j = 0; j <= k; j++)
            compare(block, k, j);
    store(x, n, block);
}

__kernel void sort_step(__global int *x, const uint n, const uint k, const uint j)
{
    const uint2 at = pair_of(get_global_id(0), k, j);
    if (at.y < n && x[at.x] > x[at.y]) {
        const int larger = x[at.x];
        x[at.x] = x[at.y];
        x[at.y] = larger;
    }
}

// The steps of a later round from distance WG on.
__kernel void finish_blocks(__global int *x, const uint n)
{
    __local int block[2 * WG];
    load(x, n, block);
    for (uint distance = WG; distance > 0; distance /= 2) {
        const uint low = get_local_id(0) & (distance - 1), at = (get_local_id(0) - low) * 2 + low;
        const int a = block[at], b = block[at + distance];
        block[at] = min(a, b);
        block[at + distance] = max(a, b);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    store(x, n, block);
}

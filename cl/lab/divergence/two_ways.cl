// divergence two_ways: two branches of equal work, chosen by the work-item's number.
// Idea:    every other run of 1 << shift items takes the other branch; each branch is one chain of steps.
// Removes: memory, and any difference between the branches: an item does the same work on either.
// Remains: what a device does where items in lockstep take different branches.
#include "../../common/words.cl"

// Bit 0 of `first` says whether the even runs take the first branch, bit 1 whether the odd ones do; so does `second`.
// p and q come from the host, so that no compiler can make one step of several.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void divergence_two_ways(__global const uint *restrict x, __global uint *restrict out, const uint rounds,
                         const uint shift, const uint first, const uint second, const uint p, const uint q)
{
    const uint id = get_global_id(0);
    const uint odd = id >> shift & 1;
    uint a = x[id];
    if (first >> odd & 1)
        for (uint round = 0; round < rounds; round++)
            EACH(step, 8) a = a * p + q;
    if (second >> odd & 1)
        for (uint round = 0; round < rounds; round++)
            EACH(step, 8) a = a * q + p;
    out[id] = a;
}

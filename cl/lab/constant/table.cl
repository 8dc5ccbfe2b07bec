// constant table: neighbouring items read a small table in constant or global memory, at one address or at several.
// Idea:    the items of a group read from `places` different addresses; a macro sets the address space.
// Removes: memory's limit, as the table fits every cache, and most address arithmetic: one address serves eight loads.
// Remains: the extra turns that a constant cache takes where items in lockstep read different addresses.
// Given:   SPACE, where the table is.
#include "../../common/words.cl"

// The table has 1032 words; `places` is a power of two up to 1024.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void constant_table(SPACE const uint *restrict table, __global uint *restrict out, const uint rounds, const uint places)
{
    uint at = (get_local_id(0) & (places - 1)) * 33;
    uint sum = 0;
    for (uint round = 0; round < rounds; round++, at += 17) {
        const uint from = at & 1023;
        EACH(k, 8) sum += table[from + k];
    }
    out[get_global_id(0)] = sum;
}

// constant program: the same reads of a table that stands in the program itself.
// Idea:    a __constant table of the program has a place that compilers know: constant memory, where there is some.
// Removes: the choice that compilers have with a __constant argument, which some read as global memory.
// Remains: the extra turns that a constant cache takes where items in lockstep read different addresses.
#include "../../common/words.cl"

// Word i of the table, and words that follow each other.
#define WORD(i) ((i) * 2654435761u ^ (i) * (i) << 9)
#define W2(i) WORD(i), WORD((i) + 1)
#define W4(i) W2(i), W2((i) + 2)
#define W8(i) W4(i), W4((i) + 4)
#define W16(i) W8(i), W8((i) + 8)
#define W32(i) W16(i), W16((i) + 16)
#define W64(i) W32(i), W32((i) + 32)
#define W128(i) W64(i), W64((i) + 64)
#define W256(i) W128(i), W128((i) + 128)
#define W512(i) W256(i), W256((i) + 256)

__constant uint table[1032] = {W512(0u), W512(512u), W8(1024u)};

// As in `table`; nothing of `unused` is read.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void constant_program(__global const uint *restrict unused, __global uint *restrict out, const uint rounds, const uint places)
{
    uint at = (get_local_id(0) & (places - 1)) * 33;
    uint sum = 0;
    for (uint round = 0; round < rounds; round++, at += 17) {
        const uint from = at & 1023;
        EACH(k, 8) sum += table[from + k];
    }
    out[get_global_id(0)] = sum;
}

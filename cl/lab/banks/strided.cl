// banks strided: neighbouring items read words of local memory that lie a stride apart, the same word, or words at random.
// Idea:    an item's address follows from its number and the stride; words and instructions stay the same.
// Removes: global memory, and most address arithmetic: one address serves eight loads.
// Remains: the extra turns that local memory takes where items read different words of the same bank.
// Given:   T, a word of 4 or 8 bytes; WORDS, words, a power of two, of which a place is one.
#include "../../common/words.cl"

// A permutation of the numbers below 256, in which numbers that follow each other show no order.
uint scrambled(uint i)
{
    i = (i * 167 + 13) & 255;
    i ^= i >> 4;
    i = (i * 89 + 7) & 255;
    return i ^ i >> 3;
}

// x has WORDS + 8 words.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void banks_strided(__global const T *restrict x, __global T *restrict out, const uint rounds, const uint stride,
                   const uint scramble)
{
    __local T table[WORDS + 8];
    for (uint i = get_local_id(0); i < WORDS + 8; i += WG)
        table[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint item = get_local_id(0);
    uint at = scramble ? scrambled(item & 255) : item * stride;
    T sum = 0;
    for (uint round = 0; round < rounds; round++, at += 17) {
        __local const T *from = table + (at & (WORDS - 1));
        EACH(k, 8) sum += from[k];
    }
    out[get_global_id(0)] = sum;
}

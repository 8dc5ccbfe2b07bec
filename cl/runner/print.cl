// The print of a buffer of 32-bit words, as data/print.rs has it: a sum over pairs of words of a random number of the
// pair and its place, of which each work-item leaves a part. A last word without a second is paired with 0.
#ifndef INDEX
#define INDEX ulong
#endif
#include "../common/draw.cl"
#include "../common/turns.cl"

__kernel void print_words(__global const uint *words, __global ulong *sums, const INDEX count)
{
    ulong sum = 0;
    EACH_TURN(i, count / 2) {
        const uint2 pair = vload2(i, words);
        sum += draw((ulong)pair.y << 32 | pair.x, i);
    }
    if (count % 2 == 1 && get_global_id(0) == 0)
        sum += draw(words[count - 1], count / 2);
    sums[get_global_id(0)] = sum;
}

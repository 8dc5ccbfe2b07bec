// pipeline mix: the middle stage of a pipeline, as long as one likes.
// Idea:    each work-item mixes a word by steps of xorshift, which no compiler takes together.
// Removes: memory as the limit: the stage takes as long as its steps, beside the transfers before and after it.
// Remains: that it can only begin when its part of the input has come.
//
// The steps are those of G. Marsaglia, "Xorshift RNGs" (2003), over the word's last TABLE values, so that a host can check
// all words by a table.
#ifndef TABLE
#define TABLE 4096    // a power of two
#endif

__kernel void pipeline_mix(__global const uint *restrict in, __global uint *restrict out, const uint first, const uint n,
                           const uint steps)
{
    const uint id = get_global_id(0);
    if (id >= n)
        return;
    const uint word = in[first + id];
    uint x = word % TABLE + 1;
    for (uint s = 0; s < steps; s++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    out[first + id] = word ^ x;
}

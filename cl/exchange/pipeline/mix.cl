// pipeline mix: the middle stage of a pipeline, which takes as long as is asked for.
// Idea:    each work-item mixes a word in steps of xorshift, which no compiler can merge.
// Removes: memory as the limit: the number of steps sets how long the stage takes.
// Remains: the stage can begin only when its part of the input has arrived.
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

// zerocopy passes: reads all words once or several times.
// Idea:    work-items sum words that lie side by side; each pass over them begins anew.
// Removes: arithmetic as the limit: what counts is from where the words come, and how often.
// Remains: the way to them: through the device's own memory, or over the link to the host's.
//
// `zero` is 0, which no compiler knows: it cannot keep the words of one pass for the next.
__kernel void passes(__global const uint *restrict x, __global uint *restrict sums, const uint n, const uint repeats, const uint zero)
{
    const uint id = get_global_id(0);
    uint sum = 0;
    for (uint pass = 0; pass < repeats; pass++)
        for (uint i = id + pass * zero; i < n; i += get_global_size(0))
            sum += x[i];
    sums[id] = sum;
}

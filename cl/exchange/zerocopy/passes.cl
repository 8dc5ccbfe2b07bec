// zerocopy passes: reads all words once or several times.
// Idea:    each work-item sums its own words, and reads all of them again in each pass.
// Removes: arithmetic as the limit: only where the words lie, and how often they are read, sets the time.
// Remains: the path to the words: through the device's own memory, or over the link to the host's.
#ifndef STRIDE
#define STRIDE get_global_size(0)    // words from one of a work-item's to its next; a constant 1 can be vectorised
#endif

// Word `near` * id is a work-item's first; the others follow STRIDE apart, up to `span` beyond. `zero` is 0, which no compiler
// knows: it cannot keep the words of one pass for the next.
__kernel void zerocopy_passes(__global const uint *restrict x, __global uint *restrict sums, const uint n, const uint near,
                              const uint span, const uint repeats, const uint zero)
{
    const uint first = get_global_id(0) * near, end = min(n, first + span);
    uint sum = 0;
    for (uint pass = 0; pass < repeats; pass++)
        for (uint i = first + pass * zero; i < end; i += STRIDE)
            sum += x[i];
    sums[get_global_id(0)] = sum;
}

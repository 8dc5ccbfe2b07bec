// atomics words: additions to a few words of global memory.
// Idea:    all items add to one of `words` words, a power of two, in an order that no compiler knows.
// Removes: loads and stores.
// Remains: the turns that atomic operations take at a word, and at those beside it.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void atomics_clear(__global uint *restrict counts, const uint words)
{
    for (uint i = get_global_id(0); i < words; i += get_global_size(0))
        counts[i] = 0;
}

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void atomics_words(volatile __global uint *counts, const uint words, const uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(counts + (i * 2654435761u >> 7 & (words - 1)));
}

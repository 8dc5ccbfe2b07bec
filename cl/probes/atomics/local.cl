// atomics local: additions to a few words of local memory.
// Idea:    as atomics `words`, but each group has its words in local memory, and leaves there what was added.
// Removes: global memory.
// Remains: the turns that atomic operations take at a word of local memory, and that they take a loop on some devices.
// Given:   WORDS, the words of a group.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void atomics_local(__global uint *restrict out, const uint n)
{
    __local uint counts[WORDS];
    for (uint w = get_local_id(0); w < WORDS; w += WG)
        counts[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(counts + (i * 2654435761u >> 7 & (WORDS - 1)));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = get_local_id(0); w < WORDS; w += WG)
        out[get_group_id(0) * WORDS + w] = counts[w];
}

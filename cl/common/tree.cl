// Sum over a work-group of any size, in ceil(log2(WG)) steps: the upper part folds onto the lower.
// Every work-item must call it; work-item 0 gets the sum. Work-items read only what they wrote
// themselves or what a barrier has ordered.
T tree_sum(T value, __local T *scratch)
{
    const uint id = get_local_id(0);
    scratch[id] = value;
    for (uint active = WG; active > 1;) {
        const uint kept = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < active - kept)
            scratch[id] += scratch[id + kept];
        active = kept;
    }
    return scratch[id];
}

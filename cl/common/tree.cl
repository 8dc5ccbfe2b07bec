// Reduction over a work-group of any size, in ceil(log2(WG)) steps: the upper part folds onto the lower.
// Every work-item must call it; work-item 0 gets the result. Work-items read only what they wrote
// themselves or what a barrier has ordered. A sum, unless operation.cl came first.
#ifndef WG
#define WG 256        // work-items of a group
#endif
#ifndef REDUCE
#define REDUCE(a, b) ((a) + (b))
#endif

T tree_reduce(T value, __local T *scratch)
{
    const uint id = get_local_id(0);
    scratch[id] = value;
    for (uint active = WG; active > 1;) {
        const uint kept = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < active - kept)
            scratch[id] = REDUCE(scratch[id], scratch[id + kept]);
        active = kept;
    }
    return scratch[id];
}

// A tree whose every step is written out; the compiler, which knows WG, drops the steps that a group has no use for.
// Comes after operation.cl and lockstep.cl. All work-items must call it, with a value each in scratch; work-item 0 gets the
// result there.
#define STEP(offset, is_meant, synchronise)                            \
    if (WG >= 2 * (offset) && (is_meant)) {                            \
        synchronise;                                                   \
        if (id < (offset))                                             \
            scratch[id] = REDUCE(scratch[id], scratch[id + (offset)]); \
    }
#define HALVE(offset) STEP(offset, 2 * (offset) > LOCKSTEP, barrier(CLK_LOCAL_MEM_FENCE))
// Within the first warp (sub-group) alone, as `last_warp` explains.
#define HALVE_IN_STEP(offset) STEP(offset, 2 * (offset) <= LOCKSTEP, lockstep_sync())

void unrolled_tree(__local T *scratch, const uint id)
{
    HALVE(4096) HALVE(2048) HALVE(1024) HALVE(512) HALVE(256) HALVE(128)
    HALVE(64) HALVE(32) HALVE(16) HALVE(8) HALVE(4) HALVE(2) HALVE(1)
    if (id < LOCKSTEP) {
        HALVE_IN_STEP(64) HALVE_IN_STEP(32) HALVE_IN_STEP(16) HALVE_IN_STEP(8) HALVE_IN_STEP(4) HALVE_IN_STEP(2)
        HALVE_IN_STEP(1)
    }
}

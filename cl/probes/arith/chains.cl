// arith chains: how many operations of one kind a device can do.
// Idea:    each item has CHAINS independent registers, each changed by its neighbour or by run-time numbers.
// Removes: everything but the operation: the compiler cannot know the operands, so it keeps every step.
// Remains: the arithmetic units' own limit.
// Given:   VEC, elements of a register; CHAINS, registers of a work-item; SWEEPS, advances of all registers in a turn of the
//          loop.
#define APART 1       // from where a register begins to where its neighbour does
#include "../../common/words.cl"
#include "../../common/smaller.cl"

#if VEC == 1
#define TV T
#define LOAD(place) (*(place))
#define SAVE(value, place) (*(place) = (value))
#else
#define TV CAT(T, VEC)
#define LOAD(place) CAT(vload, VEC)(0, place)
#define SAVE(value, place) CAT(vstore, VEC)(value, 0, place)
#endif

// x and its neighbour y become the new x; `one` is 1, or where it is checked 0.
#if defined(OP_ADD)
#define STEP(x, y) ((x) + one)
#elif defined(OP_ADD_NEXT)
// Compilers make one addition of many by a number that stays.
#define STEP(x, y) ((x) + (y))
#elif defined(OP_ADD_MIN)
#define STEP(x, y) SMALLER(x, (y) - one)
// Further apart than one step, so that each of the two decides at first.
#define APART 2
#elif defined(OP_MAD)
#define STEP(x, y) ((x) * one + one)
#else
#define STEP(x, y) fma(x, one, one)
#endif
// Registers that change each other begin side by side; others with elements of their own, so that none follows from another.
#if defined(OP_ADD_NEXT) || defined(OP_ADD_MIN)
#define BEGIN(c) (start + (T)(APART * (c)))
#else
#define BEGIN(c) LOAD(in + first + 16 * (c))
#endif

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void arith_chains(__global const T *restrict in, __global T *restrict out, const int turns, const int known)
{
    const uint first = get_global_id(0) * VEC;
    const TV start = LOAD(in + first), one = (TV)((T)known);
    TV x[CHAINS];
    EACH(c, CHAINS) x[c] = BEGIN(c);
    for (int turn = 0; turn < turns; turn++) {
        EACH(s, SWEEPS) EACH(c, CHAINS) x[c] = STEP(x[c], x[(c + 1) % CHAINS]);
    }
    TV sum = 0;
    EACH(c, CHAINS) sum += x[c];
    SAVE(sum, out + first);
}

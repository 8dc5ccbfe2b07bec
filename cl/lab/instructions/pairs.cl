// instructions pairs: chains of one operation; each step waits for the one before it.
// Idea:    a chain is a pair of numbers that change each other in turn, so that no compiler can merge two steps.
// Removes: everything but the operation and what keeps its operand in range: no memory, hardly any loop.
// Remains: the operation's latency with one chain, its throughput with many.
// Given:   CHAINS, independent chains of an item; STEPS, steps of either number in a turn of the loop; STEP, the operation:
//          one of those below; START, where a chain begins: one of those below.
#include "../../common/words.cl"
#include "../../common/function.cl"
#include "../../common/smaller.cl"
#ifndef LARGER
#define LARGER(a, b) ((a) < (b) ? (b) : (a))
#endif

// Small whole numbers, with which floats are exact; odd ones, which wrap; those that 24 bits hold however often they are
// multiplied; and the neighbourhood from which the chains of functions converge.
#define WHOLE(x, c) ((x) + (c))
#define ODD(x, c) (2 * ((x) + (c)) + 1)
#define SIGN(x, c) (((x) + (c)) & 1 ? 1 : -1)
#define NEAR(x, c) (1 + (x) * (x) * (T)0.015625f + (c) * (T)0.125f)

// What x becomes, y being the newer number of the pair. `one`, `term`, `low` and `high` are not known to a compiler.
#define ADD_ONE(x, y) ((y) + one)
// Compilers make one addition of many by a number that stays, and one multiplication of many integer ones.
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
#define MUL_ONE(x, y) ((y) * one)
#define FMA(x, y) fma(y, one, one)
#define CLAMP(x, y) LARGER(SMALLER(y, low), high)
#define MUL24(x, y) mul24((int)(x), (int)(y))
#define MAD24(x, y) mad24((int)(y), (int)one, (int)one)
#define DIV(x, y) (1000003 / (y) + term)
#define DIV_CONSTANT(x, y) ((x) + (y) / 7)
#define DIV_POWER(x, y) ((x) + (y) / 8)
#define SHIFT(x, y) ((x) + ((y) >> 3))
#define MOD(x, y) (1000003 % (y) + term)
#define MOD_CONSTANT(x, y) ((x) + (y) % 7)
#define MOD_POWER(x, y) ((x) + (y) % 8)
#define MASK(x, y) ((x) + ((y) & 7))
#define VIA_INT(x, y) ((T)(int)(y) + one)
#define VIA_FLOAT(x, y) ((T)(float)(y) + one)
#define CALL(x, y) FUNCTION(y)
#define CALL_NEGATED(x, y) FUNCTION(-(y))
#define CALL_ADD(x, y) (FUNCTION(y) + term)
#define CALL_TWO_ADD(x, y) (FUNCTION(one, y) + term)
#define CALL_POWER_ADD(x, y) (FUNCTION(y, one / term) + one)

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void instructions_pairs(
    __global const T *restrict in, __global T *restrict out, const uint turns, const uint known, const uint added)
{
    const uint id = get_global_id(0);
    const T one = known, term = added, high = START(in[id], 0), low = high - one;
    T x[CHAINS], y[CHAINS];
    EACH(c, CHAINS) x[c] = y[c] = START(in[id], c);
    for (uint turn = 0; turn < turns; turn++)
        EACH(s, STEPS) {
            EACH(c, CHAINS) x[c] = STEP(x[c], y[c]);
            EACH(c, CHAINS) y[c] = STEP(y[c], x[c]);
        }
    T sum = 0;
    EACH(c, CHAINS) sum += y[c];
    out[id] = sum;
}

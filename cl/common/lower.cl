// A register lowered by two joined pairs at a time: STEP(best, x0, y0, x1, y1, j), for the j-th of neighbouring registers.
#if defined(PACKED)
// Two whole lengths in the halves of a word: sums of two below 2^14 stay in their halves.
#define NO_HALF 0x3fff
#define BEST T
#define NONE (NO_HALF << 16 | NO_HALF)
#undef WHOLE
#ifdef PACKED_MINIMUM
// NVIDIA since Hopper.
T smaller_halves(const T a, const T b)
{
    T least;
    asm("min.s16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    return least;
}
#define WHOLE(a, b) smaller_halves(a, b)
#else
#define WHOLE(a, b) as_int(min(as_short2(a), as_short2(b)))
#endif
#define LOWER(best, s, t) WHOLE(best, WHOLE(s, t))
#elif defined(ORDERED)
// Floats from 0 on have the same order as their bits read as integers; infinity and NaN come last, minus infinity first.
#define BEST int
#define NONE as_int((T)NO_EDGE)
#define INITIAL(v) as_int(v)
#define RESULT(best) as_float(best)
#define LOWER(best, s, t) WHOLE(best, WHOLE(as_int(s), as_int(t)))
#else
#define BEST T
#define NONE NO_EDGE
#define INITIAL(v) (v)
#define RESULT(best) (best)
#define LOWER(best, s, t) SMALLER(SMALLER(best, s), t)
#endif
#ifdef BOOLEAN
// Of 0 and 1: what is not 0 stays so, however often a product is added.
#undef RESULT
#define RESULT(best) ((T)((best) != 0))
#define STEP(best, x0, y0, x1, y1, j) best = x1 * y1 + (x0 * y0 + best);
#elif defined(TWO_PIPELINES)
// NVIDIA adds integers and compares them on one pipeline, and multiplies and adds them on another, which would be idle.
// `one` is 1, which no compiler knows. On an H200 a third for the first pipeline is best.
#define STEP(best, x0, y0, x1, y1, j) \
    best = (j) % 3 == 1 ? LOWER(best, x0 + y0, x1 + y1) : WHOLE(best, WHOLE(x0 * one + y0, x1 * one + y1));
#elif defined(PREDICATED)
// NVIDIA, doubles: of two halves that are selected, both sides are read, and registers give two operands a clock. Halves that
// only a better sum moves, multiplied by one, are read alone.
#ifdef GREATEST
#define IS_BETTER "setp.gt.f64"
#else
#define IS_BETTER "setp.lt.f64"
#endif
T lowered(T best, const T sum, const int one)
{
    asm("{ .reg .pred p; .reg .b32 a, b, c, d; " IS_BETTER " p, %1, %0; mov.b64 {a, b}, %0; mov.b64 {c, d}, %1;"
        " @p mad.lo.u32 a, c, %2, 0; @p mad.lo.u32 b, d, %2, 0; mov.b64 %0, {a, b}; }"
        : "+d"(best) : "d"(sum), "r"(one));
    return best;
}
#define STEP(best, x0, y0, x1, y1, j) best = lowered(lowered(best, JOIN(x0, y0), one), JOIN(x1, y1), one);
#else
#define STEP(best, x0, y0, x1, y1, j) best = LOWER(best, JOIN(x0, y0), JOIN(x1, y1));
#endif

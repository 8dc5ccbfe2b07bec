// A register lowered by the sums of two pairs at a time: STEP(best, x0, y0, x1, y1, j), for the j-th of neighbouring registers.
#if defined(ORDERED)
// Floats from 0 on have the same order as their bits read as integers; infinity and NaN come last, minus infinity first.
#define BEST int
#define NONE as_int((T)NO_EDGE)
#define INITIAL(v) as_int(v)
#define RESULT(best) as_float(best)
#define LOWER(best, s, t) min(best, min(as_int(s), as_int(t)))
#else
#define BEST T
#define NONE NO_EDGE
#define INITIAL(v) (v)
#define RESULT(best) (best)
#define LOWER(best, s, t) SMALLER(SMALLER(best, s), t)
#endif
#if defined(TWO_PIPELINES)
// NVIDIA adds integers and compares them on one pipeline, and multiplies and adds them on another, which would be idle.
// `one` is 1, which no compiler knows. On an H200 a third for the first pipeline is best.
#define STEP(best, x0, y0, x1, y1, j) \
    best = (j) % 3 == 1 ? LOWER(best, x0 + y0, x1 + y1) : min(best, min(x0 * one + y0, x1 * one + y1));
#elif defined(PREDICATED)
// NVIDIA, doubles: of two halves that are selected, both sides are read, and registers give two operands a clock. Halves that
// only a better sum moves, multiplied by one, are read alone.
T lowered(T best, const T sum, const int one)
{
    asm("{ .reg .pred p; .reg .b32 a, b, c, d; setp.lt.f64 p, %1, %0; mov.b64 {a, b}, %0; mov.b64 {c, d}, %1;"
        " @p mad.lo.u32 a, c, %2, 0; @p mad.lo.u32 b, d, %2, 0; mov.b64 %0, {a, b}; }"
        : "+d"(best) : "d"(sum), "r"(one));
    return best;
}
#define STEP(best, x0, y0, x1, y1, j) best = lowered(lowered(best, x0 + y0, one), x1 + y1, one);
#else
#define STEP(best, x0, y0, x1, y1, j) best = LOWER(best, x0 + y0, x1 + y1);
#endif

// The two operations of a product, of values that are not NaN. SMALLER takes the better of two: the smaller or, with
// GREATEST, the larger. min() is undefined for infinite floats. GPUs have an instruction for fmin, which the host then asks
// for; CPUs have one for the comparison, but none for fmin. JOIN makes one length of two: their sum or, with BOTTLENECK, the
// smaller.
#ifdef GREATEST
#define BETTER >
#define WHOLE max    // the better of two integers
#define WHOLE_SHARED atomic_max
#else
#define BETTER <
#define WHOLE min
#define WHOLE_SHARED atomic_min
#endif
#ifndef SMALLER
#define SMALLER(a, b) ((b) BETTER (a) ? (b) : (a))
#endif
#ifndef JOIN
#ifdef BOTTLENECK
#define JOIN(a, b) ((b) < (a) ? (b) : (a))
#else
#define JOIN(a, b) ((a) + (b))
#endif
#endif
// What a missing edge costs, and staying.
#ifndef NO_EDGE
#define NO_EDGE INFINITY
#endif
#ifndef STAYING
#define STAYING 0
#endif

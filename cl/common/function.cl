// FUNCTION is a function by its name; what is written with operators has a name here.
#ifndef FUNCTION
#define FUNCTION sqrt
#endif
#define QUOTIENT(x, y) ((x) / (y))
#define RECIPROCAL(y) (1 / (y))
// Mentioned, so that the host's wish for -cl-fast-relaxed-math gets through to the build.
#ifndef FAST_RELAXED_MATH
#define FAST_RELAXED_MATH 0
#endif

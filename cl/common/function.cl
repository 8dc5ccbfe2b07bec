// FUNCTION is the name of a function; functions that are written as operators get a name here.
#ifndef FUNCTION
#define FUNCTION sqrt
#endif
#define QUOTIENT(x, y) ((x) / (y))
#define RECIPROCAL(y) (1 / (y))
// Mentioned so that the host's request for -cl-fast-relaxed-math reaches the build.
#ifndef FAST_RELAXED_MATH
#define FAST_RELAXED_MATH 0
#endif

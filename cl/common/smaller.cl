// The smaller of two values that are not NaN, and the sum of two lengths. min() is undefined for infinite floats. GPUs have an
// instruction for fmin, which the host then asks for; CPUs have one for the comparison, but none for fmin.
#ifndef SMALLER
#define SMALLER(a, b) ((b) < (a) ? (b) : (a))
#endif
// What a missing edge costs.
#ifndef NO_EDGE
#define NO_EDGE INFINITY
#endif

// The smaller of two, of which neither is NaN; min() is undefined for infinite floats. GPUs have an instruction for
// fmin, which the host then names; CPUs have one for the comparison, and none that fmin could be.
#ifndef SMALLER
#define SMALLER(a, b) ((b) < (a) ? (b) : (a))
#endif
// What a missing edge costs.
#ifndef NO_EDGE
#define NO_EDGE INFINITY
#endif

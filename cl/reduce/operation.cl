// The operation of a reduction, in front of each rung: REDUCE(a, b) joins two elements, or vectors of them; IDENTITY is the
// element that changes no other. The host defines one OP_..., and the identity that goes with it and with T.
#if defined OP_MIN
#define REDUCE(a, b) min(a, b)
#elif defined OP_MAX
#define REDUCE(a, b) max(a, b)
#elif defined OP_FMIN
#define REDUCE(a, b) fmin(a, b)
#elif defined OP_FMAX
#define REDUCE(a, b) fmax(a, b)
#elif defined OP_AND
#define REDUCE(a, b) ((a) & (b))
#elif defined OP_OR
#define REDUCE(a, b) ((a) | (b))
#elif defined OP_XOR
#define REDUCE(a, b) ((a) ^ (b))
#else
#define REDUCE(a, b) ((a) + (b))
#endif
#ifndef IDENTITY
#define IDENTITY 0
#endif

// The operation that a reduction does in place of its sum: REDUCE(a, b) joins two elements, or vectors of them. Put in front of
// each rung; of other operations than the sum the host defines one OP_..., and IDENTITY, the element that changes no other.
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
#endif

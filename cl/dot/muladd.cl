// One multiply-add, in front of each rung. mad() leaves the compiler free to round once or twice; the plain form lets it fuse or
// not as its contraction rules say. Integers have no mad(): the host does not define USE_MAD for them.
#ifdef USE_MAD
#define MULADD(a, b, c) mad(a, b, c)
#else
#define MULADD(a, b, c) ((a) * (b) + (c))
#endif

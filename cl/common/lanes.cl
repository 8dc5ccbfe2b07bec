// Vectors of VEC results that are lowered by sums.
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define TV CAT(T, VEC)
#ifdef ORDERED
// Floats of which no sum is below 0 are ordered as the integers with their bits, which some CPUs compare with units that
// the additions of floats do not need.
#define LOWEST CAT(int, VEC)
#define NOTHING ((LOWEST)(as_int(INFINITY)))
#define KEEP(v) CAT(as_int, VEC)(v)
#define GIVE(v) CAT(as_float, VEC)(v)
#define LESSER(a, b) min(a, b)
#else
#define LOWEST TV
#define NOTHING ((LOWEST)(NO_EDGE))
#define KEEP(v) (v)
#define GIVE(v) (v)
#define LESSER(a, b) SMALLER(a, b)
#endif

// Vectors of VEC results that are lowered by sums.
#define TV CAT(T, VEC)
#ifdef ORDERED
// Floats from 0 on have the same order as their bits read as integers, which some CPUs compare with units that the
// additions of floats do not need.
#define LOWEST CAT(int, VEC)
#define NOTHING ((LOWEST)(as_int((T)NO_EDGE)))
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
// Lowers results by the sums of one k: an element of x for each row, and WIDTH of y. The registers hold the results,
// these vectors and one element: there is no room for anything else.
#define LOWER(best, x, y) { \
    TV to[VECTORS]; \
    EACH(j, VECTORS) to[j] = CAT(vload, VEC)(0, (y) + j * VEC); \
    EACH(i, ROWS) EACH(j, VECTORS) { \
        const TV sum = (TV)((x)[i]) + to[j]; \
        best[i][j] = LESSER(best[i][j], KEEP(sum)); \
    } \
}

// STEPS multiplications, each with an addition, on the four vectors of v in turn, of which two may be left out. factor and
// term are 1, which no compiler knows, or where they are checked 1/2.
#if VEC == 1
#define TV float
#else
#define TV CAT(float, VEC)
#endif
#define STEP(count) EACH(k, count) v[k] = v[k] * factor + term;
#define GO_ON(v, factor, term)                           \
    for (uint step = 0; step < STEPS / 4; step++) STEP(4) \
    STEP(STEPS % 4)

// Four elements of a row at once. ALIGNED: every row begins at a multiple of four elements.
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define T4 CAT(T, 4)

// Elements x to x + 3 of a row of `width`; zeros where there are none, or if the row is not `valid`.
T4 load4(__global const T *row, const INDEX x, const INDEX width, const bool valid)
{
#ifdef EDGES
    if (!valid || x + 4 > width) {
        T4 v = 0;
        if (valid && x < width)
            v.s0 = row[x];
        if (valid && x + 1 < width)
            v.s1 = row[x + 1];
        if (valid && x + 2 < width)
            v.s2 = row[x + 2];
        return v;
    }
#endif
#ifdef ALIGNED
    return *(__global const T4 *)(row + x);
#else
    return vload4(0, row + x);
#endif
}

// Writes what lies within a `valid` row of `width`.
void store4(const T4 v, __global T *row, const INDEX x, const INDEX width, const bool valid)
{
#ifdef EDGES
    if (!valid || x + 4 > width) {
        if (valid && x < width)
            row[x] = v.s0;
        if (valid && x + 1 < width)
            row[x + 1] = v.s1;
        if (valid && x + 2 < width)
            row[x + 2] = v.s2;
        return;
    }
#endif
#ifdef ALIGNED
    *(__global T4 *)(row + x) = v;
#else
    vstore4(v, 0, row + x);
#endif
}

// VEC neighbouring elements of a row at once: 1, 2 or 4. ALIGNED: every row begins at a multiple of VEC elements.
#if VEC == 1
#define TV T
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#elif defined(ALIGNED)
#define TV CAT(T, VEC)
#define LOAD(p) (*(__global const TV *)(p))
#define STORE(v, p) (*(__global TV *)(p) = (v))
#else
#define TV CAT(T, VEC)
#define LOAD(p) CAT(vload, VEC)(0, p)
#define STORE(v, p) CAT(vstore, VEC)(v, 0, p)
#endif

// Elements first to first + VEC - 1 of a matrix, of which only the first `left` are within a row: zeros for the others.
TV load_vector(__global const T *matrix, const INDEX first, const INDEX left)
{
#ifdef EDGES
    if (left < VEC) {
        TV v = 0;
        T *elements = (T *)&v;
        for (uint i = 0; i < left; i++)
            elements[i] = matrix[first + i];
        return v;
    }
#endif
#ifdef STREAM
    // NVIDIA, 16 bytes: not kept in the L1 cache, where nobody would find it again.
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.s0), "=r"(w.s1), "=r"(w.s2), "=r"(w.s3) : "l"(matrix + first));
    return *(TV *)&w;
#else
    return LOAD(matrix + first);
#endif
}

// Writes the first `left` elements of a vector.
void store_vector(const TV v, __global T *matrix, const INDEX first, const INDEX left)
{
#ifdef EDGES
    if (left < VEC) {
        const T *elements = (const T *)&v;
        for (uint i = 0; i < left; i++)
            matrix[first + i] = elements[i];
        return;
    }
#endif
#ifdef STREAM
    const uint4 w = *(const uint4 *)&v;
    asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};"
                 : : "l"(matrix + first), "r"(w.s0), "r"(w.s1), "r"(w.s2), "r"(w.s3) : "memory");
#else
    STORE(v, matrix + first);
#endif
}

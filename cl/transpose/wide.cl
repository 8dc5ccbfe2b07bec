// transpose wide: the shape for CPU devices.
// Idea:    groups of one item turn blocks of 16 x 16 in vector registers, write whole lines past the cache, and ask ahead for
//          what they read next.
// Removes: local memory and barriers, and the reading of output lines that are overwritten anyway.
// Remains: too few work-items to hide a GPU's memory latency: on a GPU the ladder ends with `registers`.
// Expect:  the fastest rung on a CPU driver whose compiler has stores past the cache.
// But:     not on a GPU, whose warps have one item each here; less where rows do not begin at a multiple of sixteen elements.
// Proof:   gpulab lab vector; gpulab transpose --variant copy,registers,wide
// CUDA:    blocks of one thread: no launch configuration for CUDA. A store past the cache is __stcs().
// Given:   TILE, rows of a strip: a multiple of 16; RUN, elements that are read of a row before those of the next rows; a
//          multiple of 16.
#define STACKED 2     // blocks one below the other that are written before their neighbours
#define T16 CAT(T, 16)

#include "../common/words.cl"
#include "matrix.cl"

// ALIGNED: every row begins at a multiple of sixteen elements. Where the compiler can, lines are then written
// without being read or kept in the cache.
#define STREAM
#include "../common/past.cl"
// AHEAD: the block STACKED blocks below is asked for meanwhile, as no processor sees a stream in a few elements of each row.
#ifdef AHEAD
#define FETCH(place) __builtin_prefetch((const void *)(size_t)(place), 0, 2)
#else
#define FETCH(place)
#endif
#define LINE (64 / sizeof(T)) // elements of a cache line
#ifdef ALIGNED
#define LOAD16(p) (*(__global const T16 *)(p))
#define STORE16(value, p) PUT(value, (__global T16 *)(p))
#else
#define LOAD16(p) vload16(0, p)
#define STORE16(value, p) vstore16(value, 0, p)
#endif

// Exchanges the off-diagonal quarters of every square of 2 * DISTANCE rows and columns. Element by element, which
// compilers make shuffles of: Oclgrind crashes over parts of vectors.
#define EXCHANGE(DISTANCE, FIRST, SECOND) \
    for (uint i = 0; i < 16; i++) \
        if (!(i & DISTANCE)) { \
            const T16 a = r[i], b = r[i + DISTANCE]; \
            r[i] = FIRST; \
            r[i + DISTANCE] = SECOND; \
        }

// `below`: whether this item also moves the block STACKED blocks below.
void turn_block(__global const T *in, const INDEX in_pitch, __global T *out, const INDEX out_pitch, const bool below)
{
    T16 r[16];
    for (uint i = 0; below && i < 16; i++)
        for (uint line = 0; line < 16; line += LINE)
            FETCH(in + (STACKED * 16 + i) * in_pitch + line);
    for (uint i = 0; i < 16; i++)
        r[i] = LOAD16(in + i * in_pitch);
    EXCHANGE(8, (T16)(a.s0, a.s1, a.s2, a.s3, a.s4, a.s5, a.s6, a.s7, b.s0, b.s1, b.s2, b.s3, b.s4, b.s5, b.s6, b.s7),
             (T16)(a.s8, a.s9, a.sa, a.sb, a.sc, a.sd, a.se, a.sf, b.s8, b.s9, b.sa, b.sb, b.sc, b.sd, b.se, b.sf))
    EXCHANGE(4, (T16)(a.s0, a.s1, a.s2, a.s3, b.s0, b.s1, b.s2, b.s3, a.s8, a.s9, a.sa, a.sb, b.s8, b.s9, b.sa, b.sb),
             (T16)(a.s4, a.s5, a.s6, a.s7, b.s4, b.s5, b.s6, b.s7, a.sc, a.sd, a.se, a.sf, b.sc, b.sd, b.se, b.sf))
    EXCHANGE(2, (T16)(a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5, a.s8, a.s9, b.s8, b.s9, a.sc, a.sd, b.sc, b.sd),
             (T16)(a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7, a.sa, a.sb, b.sa, b.sb, a.se, a.sf, b.se, b.sf))
    EXCHANGE(1, (T16)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6, a.s8, b.s8, a.sa, b.sa, a.sc, b.sc, a.se, b.se),
             (T16)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7, a.s9, b.s9, a.sb, b.sb, a.sd, b.sd, a.sf, b.sf))
    for (uint i = 0; i < 16; i++)
        STORE16(r[i], out + i * out_pitch);
}

// The block at the matrix's edge from column x and row y on, which end before `right` and `bottom`.
void move_rest(__global const T *in, const INDEX in_pitch, __global T *out, const INDEX out_pitch,
               const INDEX x, const INDEX right, const INDEX y, const INDEX bottom)
{
    for (INDEX j = y; j < bottom; j++)
        for (INDEX i = x; i < right; i++)
            out[i * out_pitch + j] = in[j * in_pitch + i];
}

// A work-item takes `span` columns, a multiple of 16, of one strip of TILE rows; `parts` items share a strip.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose_wide(__global const T *restrict in, __global T *restrict out, const INDEX width,
                    const INDEX height, const INDEX in_pitch, const INDEX out_pitch,
                    const INDEX parts, const INDEX span)
{
    const INDEX id = get_global_id(0);
    const INDEX top = id / parts * TILE, bottom = min(top + TILE, height);
    const INDEX left = min(id % parts * span, width), right = min(left + span, width);
    for (INDEX next = left; next < right; next += RUN)
        for (INDEX stack = top; stack < bottom; stack += STACKED * 16)
            for (INDEX x = next; x < min(next + RUN, right); x += 16)
                for (INDEX y = stack; y < min(stack + STACKED * 16, bottom); y += 16)
                    if (x + 16 <= right && y + 16 <= bottom)
                        turn_block(in + y * in_pitch + x, in_pitch, out + x * out_pitch + y, out_pitch,
                                   y + STACKED * 16 < bottom);
                    else
                        move_rest(in, in_pitch, out, out_pitch, x, min(x + 16, right), y, min(y + 16, bottom));
}

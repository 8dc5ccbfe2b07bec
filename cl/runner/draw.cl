// Test data, made where they are needed: each element is a function of its place, the same as on the host
// (data/fill.rs), which compares what came of it. Elements are whole numbers times SCALE, plus OFFSET, all exact.
#ifndef T
#define T float
#endif
#ifndef INDEX
#define INDEX ulong
#endif
// Which of the functions below makes the whole numbers.
#ifndef WHOLE
#define WHOLE upper
#endif
#ifndef SCALE
#define SCALE 1
#endif
#ifndef OFFSET
#define OFFSET 0
#endif
#ifndef BASE
#define BASE 0
#endif
#ifndef SHIFT
#define SHIFT 40
#endif
#ifndef FLIP
#define FLIP 0
#endif
#ifndef MOST
#define MOST 1
#endif
#ifndef BITS
#define BITS 32
#endif
#include "../common/draw.cl"
#include "../common/turns.cl"

// The upper bits of a draw.
long upper(const ulong r, const ulong kind)
{
    return BASE + (long)(r >> SHIFT);
}

// Numbers that differ in their last bits, and in one that is further up.
long close(const ulong r, const ulong kind)
{
    return BASE + (long)(r >> SHIFT) + ((long)(r & 1) << FLIP);
}

// A random sign times 1..=MOST.
long exact(const ulong r, const ulong kind)
{
    const ulong few = ((r >> 32) * (ulong)MOST) >> 32;
    const long magnitude = 1 + (long)((ulong)MOST < 0x80000000UL ? few : mul_hi(r, (ulong)MOST));
    return (r & 1) == 0 ? magnitude : -magnitude;
}

// A random number of bits, up to MOST.
long narrow(const ulong r, const ulong kind)
{
    const uint bits = mul_hi((uint)(kind >> 32), (uint)(MOST + 1));
    const long magnitude = bits == 0 ? 0 : (long)(r >> (64 - bits));
    return (kind & 1) == 0 ? magnitude : -magnitude;
}

// No bits but, in one element of 256, one of the lower half.
long few_bits(const ulong r, const ulong kind)
{
    return (r & 255) == 0 ? 1L << ((r >> 32) % (BITS / 2)) : 0;
}

long most_bits(const ulong r, const ulong kind)
{
    return ~few_bits(r, kind);
}

long one(const ulong r, const ulong kind)
{
    return 1;
}

T element(const ulong r, const ulong kind)
{
#if defined(EXPONENTS) && BITS == 32
    // A sign, one of MOST exponents, and the other bits of a float.
    const uint exponent = mul_hi((uint)(kind >> 32), (uint)(MOST + 1)) + 127 - MOST / 2;
    return as_float((uint)kind << 31 | exponent << 23 | (uint)(r >> 41));
#elif defined(EXPONENTS)
    const uint exponent = mul_hi((uint)(kind >> 32), (uint)(MOST + 1)) + 1023 - MOST / 2;
    return as_double(kind << 63 | (ulong)exponent << 52 | r >> 12);
#else
    return (T)WHOLE(r, kind) * (T)(SCALE) + (T)(OFFSET);
#endif
}

__kernel void draw_elements(__global T *elements, const INDEX n, const INDEX key)
{
    EACH_TURN(i, n)
        elements[i] = element(draw(key, i), draw(~key, i));
}

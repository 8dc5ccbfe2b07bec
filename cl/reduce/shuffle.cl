// Reduction over LOCKSTEP work-items, from register to register; the first of them gets the result.
// All of them must call it. Comes after bits.cl, lockstep.cl and operation.cl.
#if defined LOCKSTEP_PTX
T shuffle_down(const T value, const uint delta)
{
    Bits from, to;
    from.value = value;
    #pragma unroll
    for (uint w = 0; w < WORDS; w++)
        __asm__ volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                         : "=r"(to.words[w]) : "r"(from.words[w]), "r"(delta));
    return to.value;
}

T lockstep_reduce(T value)
{
    #pragma unroll
    for (uint delta = LOCKSTEP / 2; delta > 0; delta /= 2)
        value = REDUCE(value, shuffle_down(value, delta));
    return value;
}
#elif !defined LOCKSTEP_SUBGROUP
#define lockstep_reduce(value) (value)
#elif defined OP_MIN || defined OP_FMIN
#define lockstep_reduce(value) sub_group_reduce_min(value)
#elif defined OP_MAX || defined OP_FMAX
#define lockstep_reduce(value) sub_group_reduce_max(value)
#else
#define lockstep_reduce(value) sub_group_reduce_add(value)
#endif

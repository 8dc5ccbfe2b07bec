// What one work-item of `vectorised` and of the rungs after it reduces in registers: vectors of four elements, ACC of them at
// a time, each by an accumulator of its own. Comes after operation.cl and words.cl.
#define T4 CAT(T, 4)

T reduce_vectors(__global const T *x, const INDEX n)
{
    __global const T4 *x4 = (__global const T4 *)x;
    const INDEX vectors = n / 4;
    T4 acc[ACC];
    for (uint a = 0; a < ACC; a++)
        acc[a] = (T)IDENTITY;
    INDEX i = get_group_id(0) * (ACC * WG) + get_local_id(0);
    for (; i + (ACC - 1) * WG < vectors; i += ACC * get_global_size(0)) {
        #pragma unroll
        for (uint a = 0; a < ACC; a++)
            acc[a] = REDUCE(acc[a], x4[i + a * WG]);
    }
    // What is left of the last tile, all loads at once; the condition above failed before its end.
    #pragma unroll
    for (uint a = 0; a < ACC; a++)
        if (i + a * WG < vectors)
            acc[a] = REDUCE(acc[a], x4[i + a * WG]);
    for (uint a = 1; a < ACC; a++)
        acc[0] = REDUCE(acc[0], acc[a]);
    T value = REDUCE(REDUCE(acc[0].s0, acc[0].s1), REDUCE(acc[0].s2, acc[0].s3));
    for (i = 4 * vectors + get_global_id(0); i < n; i += get_global_size(0))
        value = REDUCE(value, x[i]);
    return value;
}

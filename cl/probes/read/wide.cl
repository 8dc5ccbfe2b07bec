// read wide: how fast a CPU device can read memory.
// Idea:    work-groups of one item, each with a contiguous chunk, four loads of sixteen words in flight.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: the memory's own limit.

// chunk and n are multiples of 64. The array is read `repeats` times; `shift` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void read_wide(__global const uint *x, __global uint *partial, const INDEX chunk, const INDEX n,
               const uint repeats, const uint shift)
{
    const INDEX id = get_global_id(0);
    const INDEX begin = min(id * chunk, n);
    const INDEX end = min(begin + chunk, n);
    uint16 a = 0, b = 0, c = 0, d = 0;
    for (uint repeat = 0; repeat < repeats; repeat++, x += shift)
        for (INDEX i = begin; i < end; i += 64) {
            __global const uint16 *x16 = (__global const uint16 *)(x + i);
            a += x16[0];
            b += x16[1];
            c += x16[2];
            d += x16[3];
        }
    uint lanes[16];
    vstore16((a + b) + (c + d), 0, lanes);
    uint sum = 0;
    for (uint lane = 0; lane < 16; lane++)
        sum += lanes[lane];
    partial[id] = sum;
}

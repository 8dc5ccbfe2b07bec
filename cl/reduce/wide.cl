// reduce wide: the shape for CPU devices.
// Idea:    each group is one work-item, which reduces a contiguous chunk in four registers of sixteen elements.
// Removes: barriers, local memory and strides, which a CPU driver turns into loops over a group's work-items.
// Remains: too few work-items to hide a GPU's memory latency: on a GPU the ladder ends with `vectorised`, `subgroup` and
//          `single_pass`.
// Expect:  the fastest rung on a CPU driver: contiguous reads suit prefetchers, and sums stay in vector registers.
// But:     not on a GPU: groups of one item leave all lanes of a warp but one idle, and neighbours read far apart.
// Proof:   gpulab lab vector; gpulab lab divergence; gpulab count reduce --variant vectorised,wide; gpulab reduce --variant
//          vectorised,wide
// CUDA:    blocks of one thread: no launch configuration for CUDA, but what a CPU's core works through well.
#include "operation.cl"

#define T16 CAT(T, 16)

#include "../common/words.cl"

T reduce_lanes(const T16 v)
{
    // By way of memory: Oclgrind takes the halves .lo and .hi of a vector for uninitialised.
    T lanes[16];
    vstore16(v, 0, lanes);
    for (uint kept = 8; kept > 0; kept /= 2)
        for (uint lane = 0; lane < kept; lane++)
            lanes[lane] = REDUCE(lanes[lane], lanes[lane + kept]);
    return lanes[0];
}

// A chunk is a multiple of 64 elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_wide(__global const T *x, __global T *partial, const INDEX chunk, const INDEX n)
{
    const INDEX id = get_global_id(0);
    const INDEX begin = min(id * chunk, n);
    const INDEX end = min(begin + chunk, n);
    const INDEX whole = begin + (end - begin) / 64 * 64;
    T16 a = (T)IDENTITY, b = a, c = a, d = a;
    for (INDEX i = begin; i < whole; i += 64) {
        __global const T16 *x16 = (__global const T16 *)(x + i);
        a = REDUCE(a, x16[0]);
        b = REDUCE(b, x16[1]);
        c = REDUCE(c, x16[2]);
        d = REDUCE(d, x16[3]);
    }
    T value = reduce_lanes(REDUCE(REDUCE(a, b), REDUCE(c, d)));
    for (INDEX i = whole; i < end; i++)
        value = REDUCE(value, x[i]);
    partial[id] = value;
}

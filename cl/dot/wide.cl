// dot wide: the shape for CPU devices.
// Idea:    work-groups of one item, each with a contiguous chunk and four accumulators of sixteen elements.
// Removes: barriers, local memory and strides, which a CPU driver turns into loops over a group's work-items.
// Remains: too few work-items to hide a GPU's memory latency: on a GPU the ladder ends with `accumulators` and `single_pass`.
// Expect:  the fastest rung on a CPU driver: contiguous reads suit prefetchers, and four vectors of sums hide the additions'
//          latency.
// But:     not on a GPU: groups of one item leave all lanes of a warp but one idle, and neighbours read far apart.
// Proof:   gpulab lab vector; gpulab lab ilp; gpulab count dot --variant single_pass,wide; gpulab dot --variant
//          single_pass,wide
// CUDA:    blocks of one thread: no launch configuration for CUDA, but what a CPU's core works through well.
#include "muladd.cl"

#define T16 CAT(T, 16)

#include "../common/words.cl"

T add_lanes(const T16 v)
{
    // By way of memory: Oclgrind takes the halves .lo and .hi of a vector for uninitialised.
    T lanes[16];
    vstore16(v, 0, lanes);
    for (uint kept = 8; kept > 0; kept /= 2)
        for (uint lane = 0; lane < kept; lane++)
            lanes[lane] = lanes[lane] + lanes[lane + kept];
    return lanes[0];
}

// A chunk is a multiple of 64 elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void dot_wide(__global const T *x, __global const T *y, __global T *partial, const INDEX chunk, const INDEX n)
{
    const INDEX id = get_global_id(0);
    const INDEX begin = min(id * chunk, n);
    const INDEX end = min(begin + chunk, n);
    const INDEX whole = begin + (end - begin) / 64 * 64;
    T16 a = 0, b = 0, c = 0, d = 0;
    for (INDEX i = begin; i < whole; i += 64) {
        __global const T16 *x16 = (__global const T16 *)(x + i);
        __global const T16 *y16 = (__global const T16 *)(y + i);
        a = MULADD(x16[0], y16[0], a);
        b = MULADD(x16[1], y16[1], b);
        c = MULADD(x16[2], y16[2], c);
        d = MULADD(x16[3], y16[3], d);
    }
    T sum = add_lanes((a + b) + (c + d));
    for (INDEX i = whole; i < end; i++)
        sum = MULADD(x[i], y[i], sum);
    partial[id] = sum;
}

// read strided: how fast a GPU can read global memory.
// Idea:    a fixed grid of groups walks the array in strides, LOADS independent loads per work-item.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: the memory's own limit.
// Given:   T, a 32-bit word; LOADS, independent loads of a work-item; VEC, words of a load: 1 or 4.
#include "../../common/words.cl"
#include "../../common/tree.cl"
#if VEC == 1
#define V uint
#define WHOLE(v) (v)
#else
#define V uint4
#define WHOLE(v) (((v).s0 + (v).s1) + ((v).s2 + (v).s3))
#endif

// n is a multiple of 64. The array is read `repeats` times; `shift` is 0, which no compiler knows.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void read_strided(__global const uint *x, __global uint *partial, const INDEX n, const uint repeats,
                  const uint shift)
{
    __local uint scratch[WG];
    __global const V *vectors = (__global const V *)x;
    const INDEX count = n / VEC;
    const INDEX stride = get_global_size(0);
    V sums[LOADS];
    EACH(u, LOADS) sums[u] = 0;
    for (uint repeat = 0; repeat < repeats; repeat++, vectors += shift) {
        INDEX i = get_global_id(0);
        for (; i + (LOADS - 1) * stride < count; i += LOADS * stride)
            EACH(u, LOADS) sums[u] += vectors[i + u * stride];
        for (; i < count; i += stride)
            sums[0] += vectors[i];
    }
    V all = 0;
    EACH(u, LOADS) all += sums[u];
    const uint sum = tree_reduce(WHOLE(all), scratch);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = sum;
}

// loads vectors: reads the same floats as vectors of VEC.
// Idea:    only the type of a load changes: float, float2, float4, float8, float16.
// Removes: everything but loads, and an addition for each, so that the compiler keeps all of them.
// Remains: the number of load instructions, where they and not the bytes are the limit.
// Given:   VEC, floats of a load.
#include "../../common/words.cl"
#if VEC == 1
#define TV float
#else
#define TV CAT(float, VEC)
#endif

// The item reads `count` vectors, a multiple of 4: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void loads_vectors(__global const float *restrict x, __global float *restrict out, const uint apart, const uint step,
                   const uint count)
{
    __global const TV *vectors = (__global const TV *)x;
    const uint id = get_global_id(0);
    uint i = id * apart;
    TV sum[4] = {0, 0, 0, 0};
    for (uint done = 0; done < count; done += 4, i += 4 * step)
        EACH(k, 4) sum[k] += vectors[i + k * step];
    union {
        TV all;
        float lanes[VEC];
    } result;
    result.all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    float total = 0;
    EACH(lane, VEC) total += result.lanes[lane];
    out[id] = total;
}

// n-body v3: several bodies for each work-item.
// Idea:    a body that was read from local memory serves BODIES sums in registers, which do not wait for each other.
// Remains: fewer work-items: a small system no longer fills a large device.
#include "pull.cl"

__kernel void bodies(__global const float4 *old, __global float4 *position, __global float4 *velocity,
                     const float step, const uint n)
{
    __local float4 tile[WG];
    const uint id = get_local_id(0), mine = get_group_id(0) * WG * BODIES + id;
    float4 at[BODIES], sum[BODIES];
    for (uint b = 0; b < BODIES; b++) {
        at[b] = old[min(mine + b * WG, n - 1)];
        sum[b] = 0;
    }
    for (uint first = 0; first < n; first += WG) {
        tile[id] = first + id < n ? old[first + id] : (float4)(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < WG; k++) {
            const float4 from = tile[k];
            for (uint b = 0; b < BODIES; b++)
                sum[b] += pull(from, at[b]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint b = 0; b < BODIES; b++) {
        const uint i = mine + b * WG;
        if (i < n) {
            const float4 speed = velocity[i] + step * sum[b];
            velocity[i] = speed;
            position[i] = at[b] + step * (float4)(speed.xyz, 0);
        }
    }
}

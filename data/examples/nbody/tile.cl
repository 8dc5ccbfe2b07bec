// n-body v2: a group copies WG bodies at a time into local memory.
// Idea:    a body that was read from global memory serves all work-items of the group.
// Trap:    a work-item beyond the last body still helps to copy, and meets the others at each barrier.
#include "pull.cl"

__kernel void tile(__global const float4 *old, __global float4 *position, __global float4 *velocity,
                   const float step, const uint n)
{
    __local float4 tile[WG];
    const uint i = get_global_id(0), id = get_local_id(0);
    const float4 at = old[min(i, n - 1)];
    float4 sum = 0;
    for (uint first = 0; first < n; first += WG) {
        tile[id] = first + id < n ? old[first + id] : (float4)(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        // A body without mass pulls nobody, so that the last tile needs no case of its own.
        for (uint k = 0; k < WG; k++)
            sum += pull(tile[k], at);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= n)
        return;
    const float4 speed = velocity[i] + step * sum;
    velocity[i] = speed;
    position[i] = at + step * (float4)(speed.xyz, 0);
}

// n-body v1: each work-item reads all bodies from global memory.
#include "pull.cl"

__kernel void naive(__global const float4 *old, __global float4 *position, __global float4 *velocity,
                    const float step, const uint n)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float4 at = old[i];
    float4 sum = 0;
    for (uint k = 0; k < n; k++)
        sum += pull(old[k], at);
    const float4 speed = velocity[i] + step * sum;
    velocity[i] = speed;
    position[i] = at + step * (float4)(speed.xyz, 0);
}

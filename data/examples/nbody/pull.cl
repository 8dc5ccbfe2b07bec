// What a body at `from` (x, y, z and its mass) adds to the acceleration of one at `at`. Nearness is softened, so that a body
// does not pull itself.
float4 pull(const float4 from, const float4 at)
{
    const float4 way = (float4)(from.xyz - at.xyz, 0);
    const float near = rsqrt(dot(way, way) + 0.01f);
    return from.w * near * near * near * way;
}

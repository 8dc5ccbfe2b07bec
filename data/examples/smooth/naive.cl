// Nine reads a pixel. Beyond the rim the sampler repeats it, so that there is no condition.
__kernel void smooth(__read_only image2d_t picture, __write_only image2d_t smoothed, const sampler_t edge,
                     const int n, const int m)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    float4 sum = 0;
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++)
            sum += (2 - abs(u)) * (2 - abs(v)) * read_imagef(picture, edge, (int2)(x + u, y + v));
    write_imagef(smoothed, (int2)(x, y), sum / 16);
}

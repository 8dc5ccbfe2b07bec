// Four reads a pixel, each at a corner of it, where a linear sampler gives the mean of the four pixels around.
__kernel void smooth(__read_only image2d_t picture, __write_only image2d_t smoothed, const sampler_t edge,
                     const int n, const int m)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    // A pixel's middle is half a pixel from its corners.
    float4 sum = read_imagef(picture, edge, (float2)(x, y));
    sum += read_imagef(picture, edge, (float2)(x + 1, y));
    sum += read_imagef(picture, edge, (float2)(x, y + 1));
    sum += read_imagef(picture, edge, (float2)(x + 1, y + 1));
    write_imagef(smoothed, (int2)(x, y), sum / 4);
}

// sampled modes: an image read through a sampler, far beyond its edges on all sides.
// Idea:    coordinates are odd eighths of a pixel, which the 8-bit filter weights of GPUs hold exactly.
// Removes: ties and rounding: the right result is known to the last bit.
// Remains: what a sampler's modes do with a coordinate.
// Given:   FILTER, as CLK_FILTER_NEAREST; NORMALISED, whether an image is 1 wide and 1 high; COLUMNS and LINES of texels.

// Of the image, in pixels: powers of two.

#if NORMALISED
#define MODE(address) (CLK_NORMALIZED_COORDS_TRUE | FILTER | address)
#else
#define MODE(address) (CLK_NORMALIZED_COORDS_FALSE | FILTER | address)
#endif

// From one and a half images before the first edge to one and a half behind the last: four of them, in quarters of a pixel.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void sampled_modes(__read_only image2d_t x, __global float *restrict out, const uint address)
{
    const sampler_t clamped = MODE(CLK_ADDRESS_CLAMP), to_edge = MODE(CLK_ADDRESS_CLAMP_TO_EDGE);
    const uint id = get_global_id(0);
    const uint across = id % (16 * COLUMNS), down = (id / (16 * COLUMNS) + 29 * across) % (16 * LINES);
    float2 at;
    at.x = (2 * across + 1) * 0.125f - 1.5f * COLUMNS;
    at.y = (2 * down + 1) * 0.125f - 1.5f * LINES;
#if NORMALISED
    // Only these may be repeated.
    const sampler_t repeated = MODE(CLK_ADDRESS_REPEAT), mirrored = MODE(CLK_ADDRESS_MIRRORED_REPEAT);
    at.x *= 1.0f / COLUMNS;
    at.y *= 1.0f / LINES;
    if (address == 2)
        out[id] = read_imagef(x, repeated, at).x;
    else if (address == 3)
        out[id] = read_imagef(x, mirrored, at).x;
    else
#endif
    if (address == 1)
        out[id] = read_imagef(x, to_edge, at).x;
    else
        out[id] = read_imagef(x, clamped, at).x;
}

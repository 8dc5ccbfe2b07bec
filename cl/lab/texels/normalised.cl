// texels normalised: the same reads of the same image, with coordinates from 0 to 1.
// Idea:    CLK_NORMALIZED_COORDS_TRUE: a coordinate is a part of the image's width or height, as a float.
// Removes: the image's size from the coordinates, which then suit an image of any size.
// Remains: a conversion and a product for each coordinate, if the device has no unit that does them.
#include "../../common/words.cl"
#include "visit.cl"

// The middle of a place's pixel. Sides are powers of two, so that nothing is rounded.
float2 pixel(const uint place)
{
    float2 at;
    at.x = ((place & LAST_COLUMN) + 0.5f) * (1.0f / (1u << WIDE));
    at.y = ((place >> WIDE) + 0.5f) * (1.0f / (1u << HIGH));
    return at;
}

// The item makes `count` visits, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void texels_normalised(__read_only image2d_t x, __global uint *restrict out, const uint apart, const uint step, const uint count)
{
    const sampler_t sampler = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const uint id = get_global_id(0);
    uint i = id * apart, sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += read_imageui(x, sampler, pixel(visit(i + k * step))).x;
    out[id] = sum;
}

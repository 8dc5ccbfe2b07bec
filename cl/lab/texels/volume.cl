// texels volume: the same reads of an image of slices, each of rows and columns.
// Idea:    a pixel has a column, a row and a slice, so that the driver may store neighbours in all three directions together.
// Removes: the distance in memory of pixels that lie behind each other, where the device keeps volumes in tiles.
// Remains: the cost of reading textures itself, and the order of the reads.
#include "../../common/words.cl"
#include "visit.cl"

// Column, row and slice of a place; the fourth is not used.
int4 pixel(const uint place)
{
    int4 at;
    at.x = LOW(place, VOLUME_X);
    at.y = LOW(place >> VOLUME_X, VOLUME_Y);
    at.z = place >> (VOLUME_X + VOLUME_Y);
    at.w = 0;
    return at;
}

// The item makes `count` visits, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void texels_volume(__read_only image3d_t x, __global uint *restrict out, const uint apart, const uint step, const uint count)
{
    const sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    const uint id = get_global_id(0);
    uint i = id * apart, sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += read_imageui(x, sampler, pixel(visit(i + k * step))).x;
    out[id] = sum;
}

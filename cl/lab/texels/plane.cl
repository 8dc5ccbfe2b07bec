// texels plane: the same reads of an image of rows and columns.
// Idea:    a pixel has a column and a row, so that the driver may store the image in tiles.
// Removes: the row-by-row order in memory, where the device keeps images in tiles.
// Remains: the cost of reading textures itself, and the order of the reads.
#include "../../common/words.cl"
#include "visit.cl"

// Column and row of a place.
int2 pixel(const uint place)
{
    int2 at;
    at.x = place & LAST_COLUMN;
    at.y = place >> WIDE;
    return at;
}

// The item makes `count` visits, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void texels_plane(__read_only image2d_t x, __global uint *restrict out, const uint apart, const uint step, const uint count)
{
    const sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    const uint id = get_global_id(0);
    uint i = id * apart, sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += read_imageui(x, sampler, pixel(visit(i + k * step))).x;
    out[id] = sum;
}

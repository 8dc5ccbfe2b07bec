// texels bytes: the same words as pixels of four channels of 8 bits, which are read as floats from 0 to 1.
// Idea:    CL_UNORM_INT8: the reading unit divides each byte by 255, as images of colours need it.
// Removes: the conversion of bytes to floats from the kernel; here the floats become bytes again, to be checked.
// Remains: the order of the reads, and what the conversion costs where the device has no unit for it.
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

// The word that four floats from 0 to 1 were made of.
uint word(const float4 channels)
{
    const uint4 bytes = convert_uint4_rte(channels * 255.0f);
    return bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
}

// The item makes `count` visits, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void texels_bytes(__read_only image2d_t x, __global uint *restrict out, const uint apart, const uint step, const uint count)
{
    const sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    const uint id = get_global_id(0);
    uint i = id * apart, sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += word(read_imagef(x, sampler, pixel(visit(i + k * step))));
    out[id] = sum;
}

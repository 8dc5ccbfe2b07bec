// texels line: the same reads of the same buffer, as a line of pixels that is read as textures are.
// Idea:    an image1d_buffer_t is a view of the buffer: each word is a pixel.
// Removes: the buffer's own path through the caches, if images have another one.
// Remains: the order of the words in memory, which is still row by row.
#include "../../common/words.cl"
#include "visit.cl"

// The item makes `count` visits, a multiple of 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void texels_line(__read_only image1d_buffer_t x, __global uint *restrict out, const uint apart, const uint step, const uint count)
{
    const uint id = get_global_id(0);
    uint i = id * apart, sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) sum += read_imageui(x, (int)visit(i + k * step)).x;
    out[id] = sum;
}

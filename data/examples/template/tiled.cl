// smooth v2: neighbours through local memory.
// Idea:    a group reads each element once, and its work-items share it.
// Removes: three reads of nearly every element.
__kernel void smooth_tiled(__global const T *in, __global T *out, const INDEX n, __local T *tile)
{
    const uint lid = get_local_id(0);
    const INDEX first = (INDEX)get_group_id(0) * (WG * ITEMS);
    for (uint k = lid; k < WG * ITEMS + 2 * RADIUS; k += WG)
        if (first + k < n + 2 * RADIUS)
            tile[k] = in[first + k];
    // All work-items come here: none has returned.
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint item = lid; item < WG * ITEMS; item += WG) {
        if (first + item >= n)
            return;
        T sum = 0;
        for (uint k = 0; k <= 2 * RADIUS; k++)
            sum += tile[item + k];
        out[first + item] = sum / (2 * RADIUS + 1);
    }
}

// The kernel of `registers` where rows begin at no whole vector: a tile writes each row of the output from the next multiple of
// SKEWED elements on, for which it reads SKEWED rows more than it has; the topmost tile writes what comes before, too. Comes
// after registers.cl.
#ifdef SKEWED
#define SKEWED_PITCH (TILE + 1) // elements from one of the tile's TILE + SKEWED rows to the next

__kernel __attribute__((reqd_work_group_size(TILE * SKEWED, 1, 1)))
void transpose_registers(__global const T *restrict in, __global T *restrict out, const INDEX width,
                         const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    __local T tile[(TILE + SKEWED) * SKEWED_PITCH];
    const uint id = get_local_id(0), column = id % TILE, down = id / TILE;
    const INDEX left = TILE_COLUMN * TILE, top = TILE_ROW * TILE;
    T v[TILE / SKEWED + 1];
    for (uint k = 0; k <= TILE / SKEWED; k++) {
        const INDEX y = top + down + k * SKEWED;
        v[k] = left + column < width && y < height ? in[y * in_pitch + left + column] : 0;
    }
    for (uint k = 0; k <= TILE / SKEWED; k++)
        tile[(down + k * SKEWED) * SKEWED_PITCH + column] = v[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = id / ACROSS; c < TILE && left + c < width && top < height; c += SKEWED * VEC) {
        const INDEX row = (left + c) * out_pitch + top;
        const uint skew = (SKEWED - row % SKEWED) % SKEWED, y = skew + id % ACROSS * VEC;
        const uint end = min((INDEX)(TILE + skew), height - top);
        if (y + VEC <= end) {
            TV column_part;
            for (uint i = 0; i < VEC; i++)
                ((T *)&column_part)[i] = tile[(y + i) * SKEWED_PITCH + c];
            *(__global TV *)(out + row + y) = column_part;
        } else {
            for (uint i = y; i < end; i++)
                out[row + i] = tile[i * SKEWED_PITCH + c];
        }
        if (top == 0)
            for (uint i = id % ACROSS; i < min(skew, end); i += ACROSS)
                out[row + i] = tile[i * SKEWED_PITCH + c];
    }
}
#endif

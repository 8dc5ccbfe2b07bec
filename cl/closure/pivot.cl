// All shortest paths within BLOCK nodes, by one group: an item keeps HELD x HELD lengths in registers, SIDE apart, and the
// items that hold row and column k show them to the others. Of two copies one is written while the other is read.
#define SIDE 16
#define HELD (BLOCK / SIDE)
__kernel __attribute__((reqd_work_group_size(SIDE * SIDE, 1, 1)))
void pivot(__global T *restrict d, const INDEX pitch, const INDEX first)
{
    __local T row[2][BLOCK], column[2][BLOCK];
    const uint x = get_local_id(0) % SIDE, y = get_local_id(0) / SIDE;
    __global T *mine = d + (first + y) * pitch + first + x;
    T best[HELD][HELD];
    EACH(i, HELD) EACH(j, HELD) best[i][j] = mine[i * SIDE * pitch + j * SIDE];
    EACH(part, HELD) for (uint k = 0; k < SIDE; k++) {
        const uint now = k % 2;
        if (y == k)
            EACH(j, HELD) row[now][j * SIDE + x] = best[part][j];
        if (x == k)
            EACH(i, HELD) column[now][i * SIDE + y] = best[i][part];
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH(i, HELD) EACH(j, HELD)
            best[i][j] = SMALLER(best[i][j], column[now][i * SIDE + y] + row[now][j * SIDE + x]);
    }
    EACH(i, HELD) EACH(j, HELD) mine[i * SIDE * pitch + j * SIDE] = best[i][j];
}

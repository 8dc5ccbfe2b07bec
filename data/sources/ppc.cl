// The GPU kernels of "Programming Parallel Computers", chapter 4, from version 2 on: 64 results an item, and panels in local memory.
// The first index of an item is the row, so that neighbours write results a row apart.
#ifndef PITCH
#define PITCH n    // elements from row to row of the matrix that came from the host, and of the result
#endif

// Groups of 64 items make a row of the padded copy and a column of its transpose, whose stores are a row apart.
__kernel void pad(__global const float *m, __global float *d, const int n, const int nn)
{
    const int i = get_group_id(1);
    __global float *t = d + nn * nn;
    for (int j = get_local_id(0); j < nn; j += 64) {
        const float v = i < n && j < n ? m[PITCH * i + j] : INFINITY;
        d[nn * i + j] = v;
        t[nn * j + i] = v;
    }
}

// What an item's 64 results are, and where they go.
#define RESULTS float best[8][8]; for (int a = 0; a < 64; a++) best[a / 8][a % 8] = INFINITY;
#define ROW(a) (64 * (int)get_group_id(0) + 8 * (a) + (int)get_local_id(0))
#define COLUMN(b) (64 * (int)get_group_id(1) + 8 * (b) + (int)get_local_id(1))
#define STORE                                                   \
    for (int a = 0; a < 8; a++)                                 \
        for (int b = 0; b < 8; b++)                             \
            if (ROW(a) < n && COLUMN(b) < n)                    \
                r[PITCH * ROW(a) + COLUMN(b)] = best[a][b];

__kernel void registers(__global float *r, __global const float *d, const int n, const int nn)
{
    __global const float *t = d + nn * nn;
    RESULTS
    for (int k = 0; k < n; k++) {
        float x[8], y[8];
        for (int a = 0; a < 8; a++)
            x[a] = t[nn * k + ROW(a)];
        for (int b = 0; b < 8; b++)
            y[b] = d[nn * k + COLUMN(b)];
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                best[a][b] = min(best[a][b], x[a] + y[b]);
    }
    STORE
}

// Four rows of both panels at a time; n is rounded up to a multiple of 4, where the copies hold infinity.
__kernel void panels(__global float *r, __global const float *d, const int n, const int nn)
{
    __local float xs[4][64], ys[4][64];
    __global const float *t = d + nn * nn;
    const int id = 8 * get_local_id(1) + get_local_id(0);
    RESULTS
    for (int from = 0; from < n; from += 4) {
        for (int k = 0; k < 4; k++) {
            xs[k][id] = t[nn * (from + k) + 64 * get_group_id(0) + id];
            ys[k][id] = d[nn * (from + k) + 64 * get_group_id(1) + id];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 4; k++) {
            float y[8];
            for (int b = 0; b < 8; b++)
                y[b] = ys[k][8 * b + get_local_id(1)];
            for (int a = 0; a < 8; a++) {
                const float x = xs[k][8 * a + get_local_id(0)];
                for (int b = 0; b < 8; b++)
                    best[a][b] = min(best[a][b], x + y[b]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    STORE
}

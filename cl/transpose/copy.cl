// transpose copy: a plain copy, which a transposition is measured against.
// Idea:    each work-item copies one column of a tile, rows apart, so that a group reads and writes whole lines.
// Removes: the transposition itself; what is left is one read and one write of each element.
// Remains: memory alone: no transposition with the same loads and stores can be faster.
// Expect:  the bandwidth that transpositions are held against, near the measured limit of copying.
// But:     not a bound for `wide`, which writes past the cache where the compiler lets it, and so moves fewer bytes than this
//          copy may.
// Proof:   gpulab ceiling; gpulab transpose --variant copy
// CUDA:    a copy kernel, as in NVIDIA's study of the transposition; cudaMemcpyDeviceToDevice does the same.
// Given:   TILE, rows and columns of a tile; ROWS, rows of a work-item.
#include "edges.cl"

__kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
void transpose_copy(__global const T *restrict in, __global T *restrict out, const INDEX width,
                    const INDEX height, const INDEX in_pitch, const INDEX out_pitch)
{
    const INDEX x = get_group_id(0) * TILE + get_local_id(0);
    const INDEX y = get_group_id(1) * TILE + get_local_id(1);
    for (uint j = 0; j < TILE; j += TILE / ROWS)
        if (INSIDE(x, y + j))
            out[(y + j) * out_pitch + x] = in[(y + j) * in_pitch + x];
}

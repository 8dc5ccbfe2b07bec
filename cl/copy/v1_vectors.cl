// copy v1: how fast a GPU can copy global memory.
// Idea:    one 16-byte load and store for each work-item, as many work-items as that takes.
// Removes: everything but one read and one write of each word.
// Remains: the memory's own limit.
#ifndef INDEX
#define INDEX uint    // wide enough for n
#endif

__kernel void copy_v1_vectors(__global const uint4 *x, __global uint4 *y, const INDEX vectors)
{
    const INDEX id = get_global_id(0);
    if (id < vectors)
        y[id] = x[id];
}

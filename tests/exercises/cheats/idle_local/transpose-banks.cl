// fails: segments per store
// gpulab: wg 32x8
// gpulab: elements 1x1

// Right, and free of bank conflicts, as the tile is only there for show: stores are still strided.
__kernel void idle_local(__global const T *in, __global T *out, const INDEX width, const INDEX height)
{
    __local T tile[8][32];
    const INDEX column = get_global_id(0), row = get_global_id(1);
    const uint lx = get_local_id(0), ly = get_local_id(1);
    if (column < width && row < height)
        tile[ly][lx] = in[row * width + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (column < width && row < height)
        out[column * height + row] = tile[ly][lx];
}

// A matrix of n rows and columns among rows `pitch` apart, and back again. Staying costs nothing, or less; what is beyond the
// matrix counts as no edge.
__kernel void pad(__global const T *restrict weights, __global T *restrict d, const INDEX n, const INDEX pitch)
{
    const INDEX j = get_global_id(0), i = get_global_id(1);
    if (i >= pitch || j >= pitch)
        return;
    const T weight = i < n && j < n ? weights[i * n + j] : NO_EDGE;
    d[i * pitch + j] = i == j ? SMALLER(weight, (T)0) : weight;
}

__kernel void unpad(__global const T *restrict d, __global T *restrict r, const INDEX n, const INDEX pitch)
{
    const INDEX j = get_global_id(0), i = get_global_id(1);
    if (i < n && j < n)
        r[i * n + j] = d[i * pitch + j];
}

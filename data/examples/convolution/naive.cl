// convolution v1 and v2: each work-item reads the pixels and weights that it needs.
// Idea:    all work-items read the same weight at the same time: constant memory hands it to all of them at once.
// Remains: every pixel is read 25 times.
__kernel void convolve(
    __global const uchar *image, WEIGHTS const int *weights, __global uchar *filtered, const int n, const int m)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    int sum = 0;
    for (int v = 0; v < SIDE; v++)
        for (int u = 0; u < SIDE; u++) {
            const int row = clamp(y + v - SIDE / 2, 0, m - 1), column = clamp(x + u - SIDE / 2, 0, n - 1);
            sum += weights[v * SIDE + u] * image[row * n + column];
        }
    filtered[y * n + x] = sum >> 8;
}

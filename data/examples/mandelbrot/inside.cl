// Mandelbrot v3: the large cardioid and the large circle are known to belong to the set.
// Idea:    the numbers that take all steps need none, and their neighbours no longer wait for them.
#include "view.cl"

__kernel void inside(__global const float *view, __global uchar *image, const uint n, const uint m)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    const float2 c = number_at(view, x, y, n, m);
    const float right = c.x - 0.25f, q = right * right + c.y * c.y;
    const bool in_cardioid = q * (q + right) < 0.25f * c.y * c.y;
    const bool in_circle = (c.x + 1) * (c.x + 1) + c.y * c.y < 0.0625f;
    float zx = 0, zy = 0, xx = 0, yy = 0;
    uint steps = in_cardioid || in_circle ? STEPS : 0;
    for (; steps < STEPS && xx + yy <= 4; steps++) {
        zy = 2 * zx * zy + c.y;
        zx = xx - yy + c.x;
        xx = zx * zx;
        yy = zy * zy;
    }
    image[y * n + x] = steps;
}

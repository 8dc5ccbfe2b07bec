// Mandelbrot v1: the definition. z becomes z * z + c until it is more than 2 from zero.
#include "view.cl"

__kernel void naive(__global const float *view, __global uchar *image, const uint n, const uint m)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    const float2 c = number_at(view, x, y, n, m);
    float2 z = 0;
    uchar steps = 0;
    while (steps < STEPS && z.x * z.x + z.y * z.y <= 4) {
        z = (float2)(z.x * z.x - z.y * z.y + c.x, 2 * z.x * z.y + c.y);
        steps++;
    }
    image[y * n + x] = steps;
}

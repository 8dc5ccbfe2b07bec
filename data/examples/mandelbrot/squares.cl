// Mandelbrot v2: four steps between two looks at the distance.
// Idea:    a branch costs as much as a step; a number that has escaped stays outside, so that steps are counted without
//          branches.
#include "view.cl"

__kernel void squares(__global const float *view, __global uchar *image, const uint n, const uint m)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= m)
        return;
    const float2 c = number_at(view, x, y, n, m);
    float zx = 0, zy = 0, xx = 0, yy = 0;
    uint steps = 0;
    while (steps < STEPS && xx + yy <= 4) {
        uint inside = 0;
        for (uint k = 0; k < 4; k++) {
            // Beyond the last step, and once it has escaped, nothing is counted; what overflows compares as false.
            inside += steps + k < STEPS && xx + yy <= 4;
            zy = 2 * zx * zy + c.y;
            zx = xx - yy + c.x;
            xx = zx * zx;
            yy = zy * zy;
        }
        steps += inside;
        if (inside < 4)
            break;
    }
    image[y * n + x] = steps;
}

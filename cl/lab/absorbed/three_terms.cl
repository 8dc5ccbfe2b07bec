// absorbed three_terms: 10^30, -10^30 and 1 added up from the left or from the right.
// Idea:    the two large terms cancel; if the small one is added before they do, rounding loses it.
// Removes: all questions of how work is divided: three terms have two orders.
// Remains: the sum of floats depends on the order of additions, on any device that rounds.
__kernel void absorbed_three_terms(__global const float *restrict x, __global float *restrict out,
                                   const uint from_the_right)
{
    const float c = x[0], a = 1e30f * c, b = -a;
    out[0] = from_the_right ? a + (b + c) : (a + b) + c;
}

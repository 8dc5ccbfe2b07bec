// launch halve: a step of a sum in log2(n) launches.
// Idea:    each work-item adds an element of the upper half to one of the lower half; the next launch halves the rest.
// Removes: barriers and local memory: the end of a launch is the only point where all work-items meet.
// Remains: a launch for each halving, however few elements are left.
__kernel void launch_halve(__global const uint *x, __global uint *y, const uint half_, const uint n)
{
    const uint i = get_global_id(0);
    if (i < half_)
        y[i] = i + half_ < n ? x[i] + x[i + half_] : x[i];
}

// Sets the counts to 0.
__kernel void clear(__global T *counts)
{
    if (get_global_id(0) < BINS)
        counts[get_global_id(0)] = 0;
}

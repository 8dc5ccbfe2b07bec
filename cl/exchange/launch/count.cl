// launch count: next to nothing.
// Idea:    one work-item counts how often it was launched: the least of which a result can be seen.
// Removes: all work, so that what is left is the launch itself.
// Remains: the launch.
__kernel void launch_count(__global uint *launches)
{
    launches[0]++;
}

// my dot product: one work-item of each group multiplies and adds the group's elements. Right, and slow.
//
// gpulab try --as dot runs this file between the rungs of `gpulab dot`. Lines that begin with `// gpulab:` say how it is
// launched; change them together with the code.
//
// gpulab: elements 1         (a work-item is launched for each element, in whole work-groups)
// gpulab: results group      (each work-group leaves one partial sum; `item`: each work-item; gpulab's host adds them)
//
// Others: `items 65536` launches so many work-items whatever n is; `local WG` hands over local memory for WG elements as one
// more argument, `__local T *scratch`; `tune ACC 1 2 4` makes ACC a macro that --set, sweep and tune vary; `wg 128` is the
// work-group's size unless --wg says another; `then NAME` launches the kernel NAME with one work-group on the partial sums:
// (__global const T *partials, __global T *result, const INDEX count).
//
// Set by gpulab: T, the element type (float, double, unsigned integers); INDEX, an unsigned integer wide enough for n; WG, the
// work-items of a group. n need not be a multiple of WG, and all partial sums must be written.
// Includes: "common/tree.cl" and other files of gpulab's (gpulab source dot:accumulators --expanded shows them), or files beside yours.

__kernel void my_dot(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    const INDEX end = min(begin + (INDEX)WG, n);
    if (get_local_id(0) > 0)
        return;
    T sum = 0;
    for (INDEX i = begin; i < end; i++)
        sum += x[i] * y[i];
    partials[get_group_id(0)] = sum;
}

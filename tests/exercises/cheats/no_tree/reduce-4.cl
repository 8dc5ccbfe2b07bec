// fails: results left
// gpulab: elements 2
// gpulab: results item

// No tree: local memory is stored to for nobody, and the host adds what each work-item leaves.
__kernel void no_tree(__global const T *x, __global T *partials, const INDEX n)
{
    __local volatile T scratch[WG];
    const uint id = get_local_id(0);
    const INDEX i = get_group_id(0) * (INDEX)(2 * WG) + id;
    T sum = i < n ? x[i] : 0;
    sum += i + WG < n ? x[i + WG] : 0;
    scratch[id] = sum;
    partials[get_global_id(0)] = sum;
}

// family: reduce
// hint: reads its elements as float, but they are i32
__kernel void mine(__global const float *x, __global float *partials, const INDEX n)
{
    const INDEX begin = get_group_id(0) * (INDEX)WG;
    if (get_local_id(0) > 0)
        return;
    float sum = 0;
    for (INDEX i = begin; i < begin + WG && i < n; i++)
        sum += x[i];
    partials[get_group_id(0)] = sum;
}

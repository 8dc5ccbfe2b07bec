// fails: segments per load
// gpulab: elements 16        (a work-item adds sixteen elements)
// gpulab: results item       (each work-item leaves one partial sum; gpulab's host adds them)

// The group copies its elements, sixteen words apart for neighbours, by no item's request; what items read is for nobody.
__kernel void strides(__global const T *x, __global T *partials, const INDEX n)
{
    __local T tile[16 * WG];
    const INDEX begin = get_group_id(0) * (INDEX)(16 * WG);
    const INDEX count = begin < n ? min(n - begin, (INDEX)(16 * WG)) : 0;
    for (uint k = 0; k < 16; k++) {
        const INDEX many = count > k ? (count - k + 15) / 16 : 0;
        if (many > 0) {
            event_t event = async_work_group_strided_copy(tile + k * WG, x + begin + k, many, 16, 0);
            wait_group_events(1, &event);
        }
    }
    volatile __global const T *idle = x;
    idle[0];
    T sum = 0;
    for (uint k = 0; k < 16; k++)
        if (16 * get_local_id(0) + k < count)
            sum += tile[k * WG + get_local_id(0)];
    partials[get_global_id(0)] = sum;
}

// The dot products of the CMSoft article, with the two kernels that come before the last two. The article reads n from
// a `__constant` buffer; here it is an argument.

// Item i takes the elements from n * i / items on. The products are 32 bits wide and signed, as the article's are.
__kernel void naive(__global const float *x, __global const float *y, __global float *sums, const int n)
{
#ifdef CURED
    const long all = n, i = get_global_id(0), items = get_global_size(0);
#else
    const int all = n, i = get_global_id(0), items = get_global_size(0);
#endif
    float sum = 0;
    for (int j = all * i / items; j < (int)(all * (i + 1) / items); j++)
        sum += x[j] * y[j];
    sums[i] = sum;
}

__kernel void clear(__global float *sums)
{
    sums[get_global_id(0)] = 0;
}

// The elements behind the last whole turn of the items, one for each of the first `rest` items.
__kernel void presum(__global const float *x, __global const float *y, __global float *sums, const int n, const int rest)
{
    const int i = get_global_id(0), at = n - rest + i;
    if (i < rest)
        sums[i] = x[at] * y[at];
}

// What an item adds in the turns that all items take part in.
float turns(__global const float *x, __global const float *y, const int count)
{
    float sum = 0;
    for (int turn = 0, at = get_global_id(0); turn < count; turn++, at += get_global_size(0))
        sum += x[at] * y[at];
    return sum;
}

__kernel void coalesced(__global const float *x, __global const float *y, __global float *sums, const int n)
{
    sums[get_global_id(0)] += turns(x, y, n / (int)get_global_size(0));
}

// The article's `results` is `sums`: a group writes its result where items of the first group read. Nothing orders groups.
__kernel void local_tree(__global const float *x, __global const float *y, __global float *sums, __global float *results,
                         const int n, __local float *s)
{
    const uint id = get_local_id(0);
    s[id] = turns(x, y, n / (int)get_global_size(0)) + sums[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint far = get_local_size(0) / 2; far > 0; far /= 2) {
        if (id < far)
            s[id] += s[id + far];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0)
        results[get_group_id(0)] = s[0];
}

// The host's part: one item adds what is left.
__kernel void add_up(__global const float *sums, __global float *sum, const int count)
{
    float all = 0;
    for (int i = 0; i < count; i++)
        all += sums[i];
    *sum = all;
}

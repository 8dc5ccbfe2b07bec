// family: dot
// options: --dtype f32
// gpulab: items 2048
// gpulab: results item

__kernel void backwards(__global const T *x, __global const T *y, __global T *partials, const INDEX n)
{
    const INDEX items = get_global_size(0), item = get_global_id(0);
    T even = 0, odd = 0;
    for (INDEX i = item; i < n; i += items) {
        const INDEX at = n - 1 - i;
        if (at % 2 == 0)
            even = fma(x[at], y[at], even);
        else
            odd += x[at] * y[at];
    }
    partials[item] = even + odd;
}

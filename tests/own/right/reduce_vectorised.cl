// family: reduce
// gpulab: items 4096
// gpulab: results item

#define T4_(t) t##4
#define T4(t) T4_(t)

__kernel void vectors(__global const T *x, __global T *partials, const INDEX n)
{
    const INDEX items = get_global_size(0), item = get_global_id(0);
    T4(T) sums = 0;
    for (INDEX i = item; i < n / 4; i += items)
        sums += vload4(i, x);
    T sum = sums.x + sums.y + sums.z + sums.w;
    for (INDEX i = n / 4 * 4 + item; i < n; i += items)
        sum += x[i];
    partials[item] = sum;
}

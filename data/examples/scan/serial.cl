// scan v1: a chunk for each work-item.
// Idea:    a work-item adds up its own chunk; one adds up the chunks; each puts what came before its chunk in front.
// Remains: neighbours read far apart, and one work-item holds up all the others.
__kernel void scan_chunks(__global const T *x, __global T *out, __global T *sums, const INDEX n)
{
    const INDEX chunk = get_global_id(0);
    if (chunk * CHUNK >= n)
        return;
    const INDEX end = min((INDEX)(chunk * CHUNK + CHUNK), n);
    T sum = 0;
    for (INDEX i = chunk * CHUNK; i < end; i++) {
        sum += x[i];
        out[i] = sum;
    }
    sums[chunk] = sum;
}

__kernel void scan_sums(__global T *sums, const INDEX count)
{
    T before = 0;
    for (INDEX i = 0; i < count; i++) {
        const T sum = sums[i];
        sums[i] = before;
        before += sum;
    }
}

__kernel void scan_add(__global T *out, __global const T *sums, const INDEX n)
{
    const INDEX chunk = get_global_id(0);
    if (chunk * CHUNK >= n)
        return;
    const INDEX end = min((INDEX)(chunk * CHUNK + CHUNK), n);
    for (INDEX i = chunk * CHUNK; i < end; i++)
        out[i] += sums[chunk];
}

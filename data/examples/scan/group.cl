// The sums of a group's work-items up to each of them, in steps of 1, 2, 4, ... (Hillis and Steele, 1986). All of a group come
// here; the last line lets the tile be used again.
T scan_of_group(const T mine, __local T *tile)
{
    const uint lid = get_local_id(0);
    T sum = mine;
    tile[lid] = sum;
    for (uint step = 1; step < WG; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const T other = lid >= step ? tile[lid - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += other;
        tile[lid] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// What comes before each of the groups' sums, in their place: one group goes through all of them.
__kernel void scan_sums(__global T *sums, const INDEX count, __local T *tile)
{
    const uint lid = get_local_id(0);
    T before = 0;
    for (INDEX first = 0; first < count; first += WG) {
        const T mine = first + lid < count ? sums[first + lid] : 0;
        const T sum = scan_of_group(mine, tile);
        if (first + lid < count)
            sums[first + lid] = before + sum - mine;
        before += tile[WG - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

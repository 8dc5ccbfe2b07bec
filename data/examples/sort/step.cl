// The pair of elements that work-item `id` compares in step j of round k, which merges sorted runs of 2^k to runs of twice the
// length. The first step compares a run, from its end, with its neighbour, from its beginning, so that all comparisons go
// upwards: elements beyond the end count as infinite, and n may be any number.
uint2 pair_of(const uint id, const uint k, const uint j)
{
    const uint distance = 1u << (k - j), low = id & (distance - 1), start = (id - low) * 2;
    return (uint2)(j == 0 ? start + distance - 1 - low : start + low, start + distance + low);
}

// The word of access i in a walk over all 1 << bits words: (stride * i) % n, then the same from word 1 on, and so on, so
// that each word is accessed once. `strides` is the stride's logarithm; the walk begins `offset` words further on.
uint place(const uint i, const uint bits, const uint strides, const uint offset)
{
    const uint last = (1u << bits) - 1;
    const uint turn = i & last;
    return ((turn << strides | turn >> (bits - strides)) + offset) & last;
}

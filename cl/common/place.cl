// Where access i of a walk over all 1 << bits words goes: (stride * i) % n for the first of them, and so on from word 1 where
// that would begin again, so that each word has its turn once. strides is the stride's logarithm. From there `offset` further.
uint place(const uint i, const uint bits, const uint strides, const uint offset)
{
    const uint last = (1u << bits) - 1;
    const uint turn = i & last;
    return ((turn << strides | turn >> (bits - strides)) + offset) & last;
}

// A random cycle over 1 << bits nodes: node place(i) comes before node place(i + 1). number() undoes place().
#define MIX 2654435761u
#define UNMIX 244002641u  // MIX * UNMIX is 1
uint place(uint i, const uint bits)
{
    const uint last = (1u << bits) - 1;
    EACH(turn, 3) {
        i = (i * MIX) & last;
        i ^= i >> ((bits + 1) / 2);
    }
    return i;
}
uint number(uint node, const uint bits)
{
    const uint last = (1u << bits) - 1;
    EACH(turn, 3) {
        node ^= node >> ((bits + 1) / 2);
        node = (node * UNMIX) & last;
    }
    return node;
}
uint follower(const uint node, const uint bits)
{
    return place((number(node, bits) + 1) & ((1u << bits) - 1), bits);
}
// A sum of the words whose places an item's loads find, and where it ends: 16 loads a round, from the word `at` on. Their order
// counts in the sum, or compilers for CPUs would gather independent loads in vectors. Nodes are 1 << line words apart. The
// address of a load is what the load before it found, or, if not DEPENDENT, as many nodes away as are an odd number, so that
// all nodes take part.
#define CHASE(next, at, sum, rounds, bits, line)                                         \
    for (uint round = 0; round < rounds; round++)                                        \
        EACH(k, 16) {                                                                    \
            const uint found = next[at];                                                 \
            sum = 5 * sum + found;                                                       \
            at = DEPENDENT ? found : (at + (MIX << line)) & ((1u << (bits + line)) - 1); \
        }

// Elements that one work-group leaves for another within a launch. OpenCL 1.2 orders plain stores within a
// work-item only; atomics act on memory that all groups share. So elements travel through atomics, 32 bits at
// a time; the publisher puts a fence between them and the atomic that announces them.
// Comes after bits.cl.
void publish(volatile __global uint *slot, const T value)
{
    Bits bits;
    bits.value = value;
    for (uint w = 0; w < WORDS; w++)
        atomic_xchg(slot + w, bits.words[w]);
}

T collect(volatile __global uint *slot)
{
    Bits bits;
    for (uint w = 0; w < WORDS; w++)
        bits.words[w] = atomic_or(slot + w, 0u);
    return bits.value;
}

// Fills __local memory with NaN, so that a kernel that reads what it did not write gives a wrong
// result instead of the last launch's right one: NaN in f32 and f64, and not the NaN that outputs hold
// before. volatile keeps the dead stores.
__kernel void scrub(volatile __local uint *words, const uint count)
{
    for (uint i = get_local_id(0); i < count; i += get_local_size(0))
        words[i] = 0x7ff8c0deu;
}

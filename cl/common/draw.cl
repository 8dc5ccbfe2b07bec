// A random number of a key and an index, as data/fill.rs has it: the output function of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014), which maps words to words one to one.
ulong draw(const ulong key, const ulong index)
{
    ulong z = key + index * 0x9e3779b97f4a7c15UL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

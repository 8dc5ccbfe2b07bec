// A fixed amount of arithmetic that touches no memory until its end: how long it takes says how fast the device's
// clock runs and whether somebody else keeps it busy. Each step needs the one before, and multiplications that
// alternate with shifts leave a compiler nothing to fold over several steps. Neighbours start alike, so that the host
// can check every item with a few chains of its own.
__kernel void canary(__global uint *out, const uint steps)
{
    uint x = get_global_id(0) % 8 + 1;
    for (uint i = 0; i < steps; i++)
        x = (x ^ (x >> 15)) * 0x2c1b3c6du + i;
    out[get_global_id(0)] = x;
}

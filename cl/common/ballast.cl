// Local memory that a group holds and hardly needs: its size limits how many groups a compute unit holds at once. `words` is
// the place of its last word. A neighbour reads what an item wrote: no compiler can leave the memory out, or know that 0 is
// what comes back.
uint carried(__local uint *restrict ballast, const uint words)
{
    const uint item = get_local_id(0), next = (item + 1) % WG;
    ballast[words - item] = item;
    barrier(CLK_LOCAL_MEM_FENCE);
    return ballast[words - next] - next;
}

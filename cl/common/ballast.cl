// Local memory that a group holds but hardly uses: its size limits how many groups a compute unit holds at once. `words` is
// the place of its last word. Each item reads what a neighbour wrote, so the compiler cannot remove the memory, or know
// that it reads 0.
uint carried(__local uint *restrict ballast, const uint words)
{
    const uint item = get_local_id(0), next = (item + 1) % WG;
    ballast[words - item] = item;
    barrier(CLK_LOCAL_MEM_FENCE);
    return ballast[words - next] - next;
}

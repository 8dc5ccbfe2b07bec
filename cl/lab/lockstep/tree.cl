// A group's sum by a tree in local memory, whose words are of the type WORD.

// Loads the group's elements and halves them, with barriers, until one warp's items are left with two each.
void down_to_a_warp(__global const uint *restrict x, WORD *scratch, const uint id)
{
    scratch[id] = x[get_group_id(0) * WG + id];
    for (uint offset = WG / 2; offset > 32; offset /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < offset)
            scratch[id] += scratch[id + offset];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The last six steps as old slides have them. A race: each line reads what other items of the warp write in the line before.
void last_six_steps(WORD *scratch, const uint id)
{
    if (id < 32) {
        scratch[id] += scratch[id + 32];
        scratch[id] += scratch[id + 16];
        scratch[id] += scratch[id + 8];
        scratch[id] += scratch[id + 4];
        scratch[id] += scratch[id + 2];
        scratch[id] += scratch[id + 1];
    }
}

// The reductions of Bornhofen's slides and Maruyama's lecture, both after M. Harris (2007), with their loads, trees and faults.
// No load is guarded but the first of each turn in `many`: GUARDED guards both. Nothing synchronises the last warp: SYNCHRONISED does.
#ifndef SHARED
#define SHARED                // what Bornhofen's last solutions have: volatile
#endif
#ifndef WG
#define WG 128                // work-items of a group, 64 at least
#endif

// Every second remaining item adds its neighbour's value: `%` and a branch in every warp.
__kernel void interleaved(__global const int *x, __global int *sums, SHARED __local int *s)
{
    const uint id = get_local_id(0), size = get_local_size(0);
    s[id] = x[get_global_id(0)];
    for (uint apart = 1; apart < size; apart *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id % (2 * apart) == 0)
            s[id] = s[id] + s[id + apart];
    }
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// The same pairs by the first items of the group: whole warps rest, and banks conflict.
__kernel void strided(__global const int *x, __global int *sums, SHARED __local int *s)
{
    const uint id = get_local_id(0);
    s[id] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint apart = 1; apart < get_local_size(0); apart *= 2) {
        const uint at = 2 * apart * id;
        if (at < get_local_size(0))
            s[at] += s[at + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// Each item of the first half adds the value half a group further on, until one is left.
void halve_down_to(SHARED __local int *s, const uint id, const uint least)
{
    for (uint far = get_local_size(0) / 2; far > least; far /= 2) {
        if (id < far)
            s[id] += s[id + far];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel void sequential(__global const int *x, __global int *sums, SHARED __local int *s)
{
    const uint id = get_local_id(0);
    s[id] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    halve_down_to(s, id, 0);
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// The place of an item's first element where a group loads twice as many elements as it has items.
uint place(void)
{
    return get_group_id(0) * 2 * get_local_size(0) + get_local_id(0);
}

__kernel void first_add(__global const int *x, __global int *sums, SHARED __local int *s)
{
    const uint id = get_local_id(0);
    s[id] = x[place()] + x[place() + get_local_size(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    halve_down_to(s, id, 0);
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// The sources leave the barriers out, as a warp ran in step; all its items add, as what the others get is not read. With barriers
// the steps stay written out.
void last_warp(SHARED __local int *s, const uint id)
{
#ifdef SYNCHRONISED
#define STEP(far)                      \
    if (id < far)                      \
        s[id] += s[id + far];          \
    barrier(CLK_LOCAL_MEM_FENCE);
    STEP(32) STEP(16) STEP(8) STEP(4) STEP(2) STEP(1)
#else
    if (id < 32)
        for (uint far = 32; far > 0; far /= 2)
            s[id] += s[id + far];
#endif
}

__kernel void last_warp_alone(__global const int *x, __global int *sums, SHARED __local int *s)
{
    const uint id = get_local_id(0);
    s[id] = x[place()] + x[place() + get_local_size(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    halve_down_to(s, id, 32);
    last_warp(s, id);
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// The tree with each step written out; WG decides at compile time which of them there are.
void unrolled_tree(SHARED __local int *s, const uint id)
{
#if WG >= 512
    if (id < 256)
        s[id] += s[id + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if WG >= 256
    if (id < 128)
        s[id] += s[id + 128];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if WG >= 128
    if (id < 64)
        s[id] += s[id + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    last_warp(s, id);
}

__kernel void unrolled(__global const int *x, __global int *sums, SHARED __local int *s)
{
    const uint id = get_local_id(0);
    s[id] = x[place()] + x[place() + WG];
    barrier(CLK_LOCAL_MEM_FENCE);
    unrolled_tree(s, id);
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// Groups walk over the data; the loop tests where its first load is, and not its second.
__kernel void many(__global const int *x, __global int *sums, SHARED __local int *s, const uint n)
{
    const uint id = get_local_id(0), size = get_local_size(0);
    s[id] = 0;
    for (uint i = place(); i < n; i += 2 * size * get_num_groups(0))
#ifdef GUARDED
        s[id] += x[i] + (i + size < n ? x[i + size] : 0);
#else
        s[id] += x[i] + x[i + size];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
#if defined(UNROLLED)
    unrolled_tree(s, id);
#else
    halve_down_to(s, id, 32);
    last_warp(s, id);
#endif
    if (id == 0)
        sums[get_group_id(0)] = s[0];
}

// The host's part: one item adds what the groups left.
__kernel void add_up(__global const int *sums, __global int *sum, const uint count)
{
    int all = 0;
    for (uint i = 0; i < count; i++)
        all += sums[i];
    *sum = all;
}

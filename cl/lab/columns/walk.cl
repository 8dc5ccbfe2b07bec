// columns walk: reads every element of a matrix once, down its columns or along its rows.
// Idea:    one formula makes both walks, for rows of any pitch; padding behind a row is not read.
// Removes: everything but loads, and additions of the words, which make the compiler keep every load.
// Remains: which memory channels or cache sets the words of a column lie in.
#ifndef WG
#define WG 256        // work-items of a group
#endif

#include "../../common/words.cl"

// Access i goes to `near` times its lowest `low` bits and `far` times the rest. The item makes `count` accesses, a multiple of
// 8: from `apart` times its number on, `step` from one to the next.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void columns_walk(__global const uint *restrict x, __global uint *restrict out, const uint low, const uint near,
                  const uint far, const uint apart, const uint step, const uint count)
{
    const uint id = get_global_id(0);
    const uint below = (1u << low) - 1;
    uint i = id * apart;
    uint sum = 0;
    for (uint done = 0; done < count; done += 8, i += 8 * step)
        EACH(k, 8) {
            const uint access = i + k * step;
            sum += x[(access & below) * near + (access >> low) * far];
        }
    out[id] = sum;
}

"""Differences between counts and counters that are understood: by how much less a counter must show, and why.

Each was found in SASS (`nvdisasm -c`), in which NVIDIA's compiler loads less than Clang does for the simulator. The twins
were compiled for sm_90 by NVRTC 13.0; another version may join other loads.
"""

import re
from collections import namedtuple

# `launches` is a pattern of a run and a kernel; `less` tells by quantity how much less the counter shows than was counted.
Explanation = namedtuple("Explanation", "launches less why")


def loads_of_results(launch):
    """In each tree, one item of one warp loads what the items of all warps load in LLVM's IR."""
    trees = int(launch.counts["groups"]) + ("single_pass" in launch.kernel)
    warps = launch.warps_of_group()
    passes = 2 if launch.counts["dtype"] in ("i64", "f64") else 1
    return {"local load requests": trees * (warps - 1), "local load passes": trees * (passes * warps - 1)}


def joined_loads(launch):
    """Half of the warps load once in two passes, and not twice in two passes each with a conflict."""
    joined = int(launch.counts["warps"]) // 2
    return {"local load requests": joined, "local load passes": 2 * joined, "local load conflicts": 2 * joined}


EXPLANATIONS = [
    Explanation(
        r"reduce\w* reduce_(vectorised|single_pass)\w*|dot\w* dot_(presum|vectorised|accumulators|finish|single_pass)\w*",
        loads_of_results,
        "the tree's result, `return scratch[id]`, is loaded where item 0 alone uses it",
    ),
    Explanation(
        "reduce_constant reduce_strided",
        joined_loads,
        "the first step's scratch[2 id] and scratch[2 id + 1] are one load of 8 bytes",
    ),
]


def explanation(launch, quantity, counted, measured):
    """Why a launch's counter differs from the count, if that is known and the counter is what it then must be."""
    for one in EXPLANATIONS:
        if re.fullmatch(one.launches, f"{launch.run} {launch.kernel}"):
            if counted - one.less(launch).get(quantity, 0) == measured:
                return one.why
    return None

"""Differences between counts and counters that are understood: by how much less a counter must show, and why.

That the result of a tree is loaded by one warp, and that two neighbours are one load, was found in SASS (`nvdisasm -c`), in which
NVIDIA's compiler loads less than Clang does for the simulator. The other reasons are inferred: they give the size of the difference,
or bound it. The twins were compiled for sm_90 by NVRTC 13; another version may join other loads.
"""

import re
from collections import namedtuple

# `launches` is a pattern of a run and a kernel; `less` tells by quantity the least and the most by which the counter falls short
# of the count.
Explanation = namedtuple("Explanation", "launches less why")


def loads_of_results(launch):
    """What all warps of a tree load in LLVM's IR, one warp or none loads."""
    trees = int(launch.counts["groups"]) + ("single_pass" in launch.kernel)
    passes = 2 if launch.counts["dtype"] in ("i64", "f64") else 1
    loads = trees * launch.warps_of_group()
    return {"local load requests": (1, loads), "local load passes": (1, passes * loads)}


def kept_results(launch):
    """The last step of each tree keeps its result."""
    trees = int(launch.counts["groups"])
    return {"local load requests": (trees, trees), "local load passes": (trees, trees)}


def quartered_loads(share):
    """This share of the loads is of a tile's row: four of them are one of 16 bytes, in two passes."""
    def less(launch):
        loads = int(launch.counts["local_read_requests"]) * share
        return {"local load requests": (loads * 3 / 4,) * 2, "local load passes": (loads / 2,) * 2}
    return less


def both_halves(launch):
    """Segments that several groups load are missed once in each half."""
    return {"L2 load misses": (-int(launch.counts["global_read_launch_segments"]), 0)}


def joined_loads(launch):
    """Half of the warps load once in two passes, and not twice in two passes each with a conflict."""
    joined = int(launch.counts["warps"]) // 2
    twice = (2 * joined,) * 2
    return {"local load requests": (joined,) * 2, "local load passes": twice, "local load conflicts": twice}


EXPLANATIONS = [
    Explanation(
        r"reduce\w* reduce_(vectorised|single_pass)\w*|dot\w* dot_(presum|vectorised|accumulators|finish|single_pass)\w*",
        loads_of_results,
        "the tree's result, `return scratch[id]`, is loaded where item 0 alone uses it, or kept",
    ),
    Explanation("reduce reduce_(unrolled|raking)", kept_results, "the tree's result is kept, and not loaded again"),
    Explanation("product product_tiled", quartered_loads(1 / 2), "four loads of a row of the tile are one of 16 bytes"),
    Explanation("product product_registers", quartered_loads(4 / 5), "four loads of a row of the tile are one of 16 bytes"),
    Explanation(".*", both_halves, "each half of the L2 misses a segment by itself, at most once"),
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
            least, most = one.less(launch).get(quantity, (0, 0))
            if least <= counted - measured <= most and counted != measured:
                return one.why
    return None

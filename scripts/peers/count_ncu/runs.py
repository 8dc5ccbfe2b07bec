"""What is counted and measured: runs of `gpulab count`, and the folder that keeps each of them.

For a run NAME, the folder has NAME.csv (gpulab's counts) and NAME.json (its launches, as Oclgrind made them).
"""

import base64
import csv
import json
import os
import zlib

RUNS = {
    "reduce": "reduce --variant 1-8,10 -n 4096 --wg 128",
    "reduce_constant": "reduce --variant 1-4 -n 4096 --wg 256 --set size=constant",
    "reduce_i64": "reduce --variant 2,3,8 -n 4096 --wg 128 --dtype i64",
    "dot": "dot --variant 1-6 -n 4096 --wg 128 --set items=512",
    "dot_f64": "dot --variant 2-5 -n 4096 --wg 128 --dtype f64",
    "transpose": "transpose --variant copy,local_copy,1-6 -n 128",
    "transpose_edges": "transpose --variant 2,3 -n 100",
    "transpose_f64": "transpose --variant 1-6 -n 64 --dtype f64",
    "minplus": "minplus --variant 0-4 -n 64",
    "minplus_f64": "minplus --variant 3,4 -n 64 --dtype f64",
    "banks": "banks",
    "stride": "stride",
    "offset": "offset",
    "divergence": "divergence",
    "minplus_reuse": "minplus --variant 0-1 -n 128",
    "dot_reuse": "dot --variant 1 -n 32768 --wg 128",
    "product": "data/examples/product/family.toml -n 64",
    "stencil": "data/examples/stencil/family.toml -n 64",
    "convolution": "data/examples/convolution/family.toml:naive -n 64",
    "spmv": "data/examples/spmv/family.toml -n 512",
}

# Their items take the turns of a loop differently often. NVIDIA's compiler unrolls such loops, and the items part in what is left
# of them: their twins keep the loops.
ROLLED = {"stencil", "spmv"}


class Launch:
    """A launch: as it was recorded, and its row of counts."""

    def __init__(self, run, number, recorded, counts):
        self.run, self.number, self.recorded, self.counts = run, number, recorded, counts
        self.name = f"{run}.{number}"
        self.kernel = recorded["kernel"]

    @property
    def case(self):
        """What tells it from other launches of its kernel."""
        row = self.counts
        if row["experiment"]:
            return f"{row['series']}, {float(row['x']):g}"
        return f"{row['dtype']} n {row['n']} wg {row['wg']} {row['params']}".strip()

    def warps_of_group(self):
        """Warps of each of its groups."""
        return int(self.counts["warps"]) // int(self.counts["groups"])

    def bytes_of(self, index, when):
        """Bytes of an argument, `before` or `after` the launch; what the kernel left as it was has no second entry."""
        argument = self.recorded["arguments"][index]
        return unpacked(argument.get(when, argument["before"]))


def packed(data):
    """Bytes as text."""
    return base64.b64encode(zlib.compress(data)).decode()


def unpacked(text):
    """The bytes of such a text."""
    return zlib.decompress(base64.b64decode(text))


def launches(folder, run):
    """The launches of a recorded run, in order."""
    with open(os.path.join(folder, f"{run}.json")) as file:
        recorded = json.load(file)
    rows = rows_of_launches(os.path.join(folder, f"{run}.csv"))
    check(run, recorded, rows)
    return [Launch(run, number, *one) for number, one in enumerate(zip(recorded, rows), 1)]


def rows_of_launches(path):
    """Rows of counts, without those of cases that were skipped."""
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["status"] == "ok" and not row["line"]]


def check(run, recorded, rows):
    """Refuses records and counts that are not of the same launches."""
    told = [(row["kernel"], int(row["groups"]), int(row["items"])) for row in rows]
    seen = [(one["kernel"], groups(one), product(one["global"])) for one in recorded]
    if told != seen:
        differing = [pair for pair in zip(told, seen) if pair[0] != pair[1]] or [(len(told), len(seen))]
        raise ValueError(f"{run}: counts and record are of different launches: {differing[0]}; record it again")


def groups(recorded):
    """Work-groups of a launch."""
    return product(recorded["global"]) // product(recorded["local"])


def product(triple):
    """Of three numbers."""
    return triple[0] * triple[1] * triple[2]

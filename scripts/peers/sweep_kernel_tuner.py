#!/usr/bin/env python3
"""Kernel Tuner over the configurations of `harness`: gpulab's reduce `vectorised` with 1 to ROWS work-items, each answer checked.

    scripts/peers/sweep_kernel_tuner.py ROWS ELEMENTS SAMPLES

Needs: pip install kernel-tuner pyopencl. It writes each setting into the source as a macro, so that the driver compiles each
configuration, as it does for Kernel Tuner wherever it runs.
"""

import sys
from pathlib import Path

import kernel_tuner
import numpy as np

FOLDER = Path(__file__).resolve().parent.parent.parent / "cl" / "reduce"


def main() -> None:
    rows, n, samples = map(int, sys.argv[1:])
    data = np.random.default_rng(1).integers(0, 1 << 31, n, dtype=np.uint32)
    total = np.sum(data, dtype=np.uint32)
    partial = np.zeros(rows, np.uint32)
    options = ["-cl-std=CL1.2", "-I", str(FOLDER), "-D", "T=uint", "-D", "INDEX=uint"]
    options += ["-D", "OP_SUM=1", "-D", "IDENTITY=0"]

    def verify(_, got, atol=None):
        return np.sum(got[1], dtype=np.uint32) == total

    results, _ = kernel_tuner.tune_kernel(
        "reduce_vectorised", (FOLDER / "vectorised.cl").read_text(),
        problem_size=lambda p: p["work_items"], grid_div_x=["WG"], block_size_names=["WG"],
        arguments=[data, partial, np.uint32(n)], answer=[None, partial, None], verify=verify,
        tune_params={"work_items": list(range(1, rows + 1)), "WG": [1], "ACC": [1]},
        lang="OpenCL", iterations=samples, compiler_options=options, quiet=True,
    )  # fmt: skip
    times = [result["time"] for result in results if isinstance(result["time"], float)]
    if len(times) != rows:
        sys.exit(f"{len(times)} of {rows} configurations have a time")
    print(f"{rows} checked, best {1e3 * min(times):.3f} us")


if __name__ == "__main__":
    main()

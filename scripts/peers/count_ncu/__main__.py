#!/usr/bin/env python3
"""Holds `gpulab count` against the counters of an NVIDIA GPU, kernel by kernel.

On a machine with Oclgrind:   python3 scripts/peers/count_ncu record FOLDER [--gpulab target/release/gpulab]
Where only NVRTC is:          python3 scripts/peers/count_ncu compile FOLDER
On a machine with the GPU:    python3 scripts/peers/count_ncu measure FOLDER --out OUT    (needs CUDA with ncu; no more)
Anywhere:                     python3 scripts/peers/count_ncu compare FOLDER --out OUT

`record` runs `gpulab count` and writes down each launch. `measure` compiles the same text as CUDA C++, launches it with the
same groups, arguments and data under Nsight Compute, and checks that its buffers hold what the simulator's held. `compare`
prints each count beside the GPU's counter, and exits with 1 if one differs for no known reason.
"""

import argparse
import os
import sys

import compare
import cuda
import measure
import record
import runs

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    for name in ("record", "compile", "measure", "launch", "compare"):
        task = tasks.add_parser(name)
        task.add_argument("folder", help="of the recorded runs")
        if name == "record":
            task.add_argument("--gpulab", default=os.path.join(ROOT, "target", "release", "gpulab"))
        if name in ("measure", "launch", "compare"):
            task.add_argument("--out", required=True, help="of what is measured")
        if name in ("measure", "launch"):
            task.add_argument("--seconds", type=float, default=100, help="after which no further run is begun")
        if name == "compile":
            task.add_argument("--architecture", default="sm_90")
            task.add_argument("--out", help="folder for the binaries")
        if name == "launch":
            task.add_argument("--skip", default="", help="names of launches, with commas")
        if name == "compare":
            task.add_argument("-v", "--verbose", action="store_true", help="every quantity of every launch")
            task.add_argument("--csv", help="file for every quantity of every launch")
        task.add_argument("--run", action="append", choices=list(runs.RUNS), help="all by default")
    args = parser.parse_args()
    names = args.run or list(runs.RUNS)
    if args.task == "record":
        return record.record(os.path.realpath(args.gpulab), args.folder, names)
    names = [name for name in names if os.path.exists(os.path.join(args.folder, f"{name}.json"))]
    if not names:
        parser.error(f"{args.folder} has no recorded run")
    if args.task == "compile":
        return measure.compile_all(args.folder, names, args.architecture, args.out)
    if args.task == "launch":
        return measure.launch_all(args.folder, args.out, names, set(args.skip.split(",")), args.seconds)
    if args.task == "measure":
        return measure.measure(args.folder, args.out, names, args.seconds)
    return compare.compare(args.folder, args.out, names, args.verbose, args.csv)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (cuda.CudaError, OSError, ValueError) as error:
        sys.exit(f"count_ncu: {error}")

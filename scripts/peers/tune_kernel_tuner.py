#!/usr/bin/env python3
"""gpulab tune beside Kernel Tuner: the same kernel, space, device and number of samples; wall times of whole processes.

Usage: scripts/peers/tune_kernel_tuner.py [reduce|transpose]... [--rounds 3] [--gpulab target/release/gpulab]
Needs: pip install kernel_tuner pyopencl

gpulab comes first in each round; the configurations in its rows are Kernel Tuner's space, and the mean of their samples is
Kernel Tuner's number of iterations. Both compile everything anew, and both check every configuration: Kernel Tuner one run
against `answer`; gpulab several runs over several inputs, with guarded and poisoned buffers, and the last timed run again.
Kernel Tuner takes all samples of each configuration in turn; gpulab a few of slow ones, and measures the best five again.
"""

import argparse
import csv
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))

# What gpulab is asked for; `params` names the macro of each setting in its rows.
FAMILIES = {
    "reduce": {
        "asked": "reduce --variant vectorised -n 4Mi --wg 32,128,512 "
        "--set acc=1,2,4,8 --set items=1024,4096,16384",
        "params": {"wg": "WG", "acc": "ACC", "items": "work_items"},
    },
    "transpose": {
        "asked": "transpose --variant conflict_free -n 2048 --wg 256 "
        "--set tile=16,32,64 --set rows=2,4,8,16 --set pad=0,1,2",
        "params": {"tile": "TILE", "rows": "ROWS", "pad": "PAD"},
    },
}


def run_gpulab(gpulab, name, folder):
    """Runs gpulab's search; its rows, and what the process took."""
    rows_file = os.path.join(folder, "rows.csv")
    asked = FAMILIES[name]["asked"].split()
    command = [gpulab, "tune", *asked, "--strategy", "exhaustive", "--budget", "100000", "-q", "-o", rows_file]
    took = timed(command, folder)
    with open(rows_file, newline="") as file:
        # A configuration of the last rounds has a second row, which holds their samples alone.
        return list(csv.DictReader(file)), took


def timed(command, folder):
    """Wall time and processor time of a command in seconds, with folders of its own for caches and data."""
    own = {"POCL_CACHE_DIR": "pocl", "GPULAB_DATA": "data", "XDG_CACHE_HOME": "cache"}
    env = os.environ | {name: os.path.join(folder, sub) for name, sub in own.items()} | {"PYOPENCL_NO_CACHE": "1"}
    os.makedirs(env["POCL_CACHE_DIR"])
    began, used = time.monotonic(), processor_time()
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    took = time.monotonic() - began, processor_time() - used
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return took


def processor_time():
    """Processor time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def space_of(name, rows):
    """The configurations that gpulab timed, as Kernel Tuner's parameters."""
    def configuration(row):
        settings = dict(word.split("=") for word in row["params"].split()) | {"wg": row["wg"]}
        return tuple(int(settings[key]) for key in FAMILIES[name]["params"])

    return sorted({configuration(row) for row in rows if row["status"] == "ok"})


def compare(name, rounds, gpulab):
    """Runs both in turn, and prints a line for each round and what they come to."""
    ratios, best = [], []
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = os.path.join(folder, "gpulab"), os.path.join(folder, "kernel_tuner")
            os.makedirs(ours), os.makedirs(theirs)
            rows, own = run_gpulab(gpulab, name, ours)
            space = space_of(name, rows)
            iterations = math.ceil(sum(int(row["runs"]) for row in rows) / len(space))
            task, answer = os.path.join(theirs, "task.json"), os.path.join(theirs, "answer.json")
            with open(task, "w") as file:
                json.dump({"name": name, "space": space, "iterations": iterations, "rows": rows[:1]}, file)
            peer = timed([sys.executable, os.path.realpath(__file__), "--child", task, answer], theirs)
            with open(answer) as file:
                found = json.load(file)
        ratios.append(own[0] / peer[0])
        latest = {row["case_index"]: float(row["t_median_s"]) for row in rows if row["status"] == "ok"}
        best.append((1e3 * min(latest.values()), found["best_ms"]))
        print(
            f"{name} round {number}: {len(space)} configurations, {iterations} samples each on average; gpulab "
            f"{own[0]:.1f} s, Kernel Tuner {peer[0]:.1f} s ({found['checked']} checked); ratio {ratios[-1]:.2f}; "
            f"processor time {own[1]:.1f} s and {peer[1]:.1f} s; "
            f"best {best[-1][0]:.4g} ms and {best[-1][1]:.4g} ms",
            flush=True,
        )
    print(f"{name}: gpulab takes {statistics.median(ratios):.2f} of Kernel Tuner's wall time (median of {rounds})")


def child(task_file, answer_file):
    """Kernel Tuner's search, in a process of its own."""
    import kernel_tuner
    import numpy as np
    import pyopencl

    with open(task_file) as file:
        task = json.load(file)
    name, space = task["name"], [tuple(values) for values in task["space"]]
    row = task["rows"][0]
    keys = list(FAMILIES[name]["params"].values())
    params = {key: sorted({values[at] for values in space}) for at, key in enumerate(keys)}
    known = set(space)
    n = int(row["n"])
    rng = np.random.default_rng(1)
    options = ["-cl-std=CL1.2", "-cl-kernel-arg-info", "-D", "INDEX=uint", "-I", os.path.join(ROOT, "cl", name)]
    if name == "reduce":
        kernel, file, front = "reduce_vectorised", "vectorised.cl", "operation.cl"
        options += ["-D", "T=uint", "-D", "OP_SUM=1", "-D", "IDENTITY=0"]
        data = rng.integers(0, 1 << 31, n, dtype=np.uint32)
        partial = np.zeros(max(values[2] // values[0] for values in space) + 1, np.uint32)
        args, answer = [data, partial, np.uint32(n)], [None, partial, None]
        total = np.sum(data, dtype=np.uint32)
        grid = {"problem_size": lambda p: p["work_items"], "grid_div_x": ["WG"], "block_size_names": ["WG"]}

        def verify(_, got, atol=None):
            return np.sum(got[1], dtype=np.uint32) == total
    else:
        kernel, file, front = "transpose_conflict_free", "conflict_free.cl", "edges.cl"
        options += ["-D", "T=float", "-D", "ALIGNED=1"]
        data = rng.random((n, n), dtype=np.float32)
        size = np.uint32(n)
        args, answer = [data, np.zeros_like(data), size, size, size, size], [None, data.T.copy(), *[None] * 4]
        grid = {
            "problem_size": (n, n),
            "grid_div_x": ["TILE"],
            "grid_div_y": ["TILE"],
            "block_size_names": ["TILE", "TILE_ITEM_ROWS"],
        }
        # The group's second side, which is no macro of the kernel.
        params["TILE_ITEM_ROWS"] = sorted({values[0] // values[1] for values in space})
        known = {(*values, values[0] // values[1]) for values in space}
        keys = [*keys, "TILE_ITEM_ROWS"]

        def verify(wanted, got, atol=None):
            return np.array_equal(wanted[1], got[1])

    def is_known(p):
        return tuple(p[key] for key in keys) in known

    # What gpulab puts in front of the kernel as well.
    source = "".join(open(os.path.join(ROOT, "cl", name, part)).read() for part in [front, file])
    platforms = pyopencl.get_platforms()
    at = next(i for i, platform in enumerate(platforms) if platform.name == row["platform"])
    results, _ = kernel_tuner.tune_kernel(
        kernel, source, arguments=args, tune_params=params, lang="OpenCL", platform=at, device=0,
        restrictions=is_known, answer=answer, verify=verify,
        iterations=task["iterations"], compiler_options=options, quiet=True, **grid,
    )
    times = [result["time"] for result in results if isinstance(result["time"], float)]
    assert len(times) == len(space), f"{len(times)} of {len(space)} configurations have a time"
    with open(answer_file, "w") as out:
        json.dump({"best_ms": min(times), "checked": len(times)}, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", default=list(FAMILIES), help="reduce, transpose (both by default)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gpulab", default=os.path.join(ROOT, "target", "release", "gpulab"))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(*args.child)
    for name in args.families:
        if name not in FAMILIES:
            parser.error(f"{name}: reduce or transpose")
        compare(name, args.rounds, os.path.realpath(args.gpulab))


if __name__ == "__main__":
    main()

"""Twins on the GPU: compiles recorded kernels as CUDA C++, and launches them under Nsight Compute.

In the folder OUT, attempt K leaves K.launched.jsonl (which twins were launched, in order, and whether their results are the
simulator's), K.ncu.csv (the counters of each launch), the report K.ncu-rep
and K.log, what ncu said; beside them are the twins' binaries, for `cuobjdump -sass`, and the counters that ncu lists.
"""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

import cuda
import metrics
import runs
import twin

HERE = os.path.dirname(os.path.abspath(__file__))

# With empty caches, and at whatever clock: nothing of this is time.
COLLECT = ["--target-processes", "all", "--replay-mode", "kernel", "--cache-control", "all", "--clock-control", "none"]
ATTEMPTS = 5
SHOWN = 10
PRINT = ["--csv", "--page", "raw", "--print-units", "base", "--print-metric-instances", "details"]


class Twins:
    """Compiles twins, each text once."""

    def __init__(self, architecture, keep=None):
        self.compiler, self.architecture, self.keep, self.known = cuda.Compiler(), architecture, keep, {}
        if keep:
            os.makedirs(keep, exist_ok=True)

    def of(self, launch):
        """The binary of a launch's twin."""
        text = twin.source(launch.recorded, launch.run in runs.ROLLED)
        key = hashlib.sha256(text.encode()).digest()
        if key not in self.known:
            self.known[key] = self.compiler.compile(text, f"{launch.kernel}.cu", self.architecture)
            if self.keep:
                with open(os.path.join(self.keep, f"{launch.name}.{launch.kernel}.cubin"), "wb") as file:
                    file.write(self.known[key])
        return self.known[key]


def compile_all(folder, names, architecture, out):
    """Compiles the twins of all recorded launches; 1 if one does not compile."""
    twins, failed, count = Twins(architecture, out), 0, 0
    for launch in all_launches(folder, names):
        count += 1
        try:
            twins.of(launch)
        except (cuda.CudaError, ValueError) as error:
            failed += 1
            print(f"{launch.name}: {error}", file=sys.stderr)
    print(f"{twins.compiler.version}, {architecture}: {count - failed} of {count} twins compile, {len(twins.known)} texts")
    return 1 if failed else 0


def all_launches(folder, names):
    """The launches of these runs."""
    return [launch for name in names for launch in runs.launches(folder, name)]


def launch_all(folder, stem, names, skipped, seconds):
    """Launches twins one after the other, and notes each before and after; a fault ends it."""
    began, gpu = time.monotonic(), cuda.Gpu()
    twins = Twins(gpu.architecture, os.path.join(os.path.dirname(stem), "cubins"))
    with open(f"{stem}.launched.jsonl", "w") as file:
        def note(launch, state, why=""):
            print(json.dumps({"name": launch.name, "state": state, "why": why}), file=file, flush=True)

        for launch in all_launches(folder, names):
            if launch.name in skipped or time.monotonic() - began > seconds:
                continue
            try:
                binary = twins.of(launch)
            except (cuda.CudaError, ValueError) as error:
                note(launch, "failed", str(error))
                continue
            note(launch, "launched")
            note(launch, "done", run_and_check(gpu, binary, launch))
    return 0


def run_and_check(gpu, binary, launch):
    """Runs a twin; what differs from the simulator's buffers, nothing if they are equal."""
    arguments = launch.recorded["arguments"]
    buffers = {one["address"]: bytearray(launch.bytes_of(i, "before")) for i, one in indexed_buffers(arguments)}
    values = [one | {"before": launch.bytes_of(i, "before")} if one["is"] == "value" else one
              for i, one in enumerate(arguments)]
    gpu.launch(binary, launch.recorded | {"arguments": values}, buffers)
    differing = [i for i, one in indexed_buffers(arguments) if buffers[one["address"]] != launch.bytes_of(i, "after")]
    return "; ".join(difference(i, buffers[arguments[i]["address"]], launch.bytes_of(i, "after")) for i in differing)


def indexed_buffers(arguments):
    """The arguments that are buffers, with their indices."""
    return [(i, one) for i, one in enumerate(arguments) if one["is"] == "buffer"]


def difference(index, got, want):
    """Where two buffers differ first."""
    words = [i for i in range(0, len(want), 4) if got[i : i + 4] != want[i : i + 4]]
    at = words[0]
    return (f"argument {index}: {len(words)} of {len(want) // 4} words differ, first word {at // 4}: "
            f"{got[at : at + 4].hex()} instead of {want[at : at + 4].hex()}")


def measure(folder, out, names, seconds):
    """Launches all twins under ncu, again without those that a fault stopped; 1 if one could not be measured."""
    ncu = shutil.which("ncu") or newest("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda*/bin/ncu")
    if not ncu:
        sys.exit("there is no ncu: install NVIDIA Nsight Compute, or add its folder to PATH")
    os.makedirs(out, exist_ok=True)
    for old in glob.glob(os.path.join(glob.escape(out), "[0-9]*.*")):
        os.remove(old)
    began = time.monotonic()
    chosen = known_metrics(ncu, folder, out, names)
    skipped, attempt = set(), 0
    while attempt < ATTEMPTS and time.monotonic() - began < seconds:
        attempt += 1
        stem = os.path.join(out, str(attempt))
        left = seconds - (time.monotonic() - began)
        collect(ncu, chosen, stem, ["launch", folder, "--out", stem, "--seconds", f"{left:.0f}", *of_runs(names),
                                    "--skip", ",".join(skipped)], left + 60)
        noted = notes(stem)
        skipped |= set(noted)
        if not noted or all(one["state"] != "launched" for one in noted.values()):
            break
    return summary(folder, out, names, time.monotonic() - began)


def of_runs(names):
    """Options that name runs."""
    return [word for name in names for word in ("--run", name)]


def newest(*patterns):
    """The last of the files that match."""
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    return found[-1] if found else None


def known_metrics(ncu, folder, out, names):
    """The counters that this ncu has for this GPU; says which of ours it lacks."""
    listed = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True).stdout.split("\n")
    listed = {line.split()[0] for line in listed if line.strip()}
    with open(os.path.join(out, "listed.txt"), "w") as file:
        file.write("\n".join(sorted(name for name in listed if name.startswith(("smsp__", "sm__inst", "l1tex__", "sass")))))
    chosen = [name for name in metrics.LISTED if name.split(".")[0] in listed] or metrics.LISTED
    for name in metrics.UNLISTED:
        first = runs.launches(folder, names[0])
        others = ",".join(launch.name for launch in first[1:])
        stem = os.path.join(out, "probe")
        if collect(ncu, [name], stem, ["launch", folder, "--out", stem, "--run", names[0], "--skip", others], 60):
            chosen.append(name)
    lacking = [name for name in metrics.LISTED + metrics.UNLISTED if name not in chosen]
    if lacking:
        print(f"This ncu has no {', '.join(lacking)}: left out", flush=True)
    return chosen


def collect(ncu, chosen, stem, task, seconds):
    """Runs a task under ncu and writes its counters as CSV; whether there are any."""
    for left in glob.glob(f"{glob.escape(stem)}.*"):
        os.remove(left)
    command = [ncu, *COLLECT, "--metrics", ",".join(chosen), "-f", "-o", stem, sys.executable, HERE, *task]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
        said = done.stdout
    except subprocess.TimeoutExpired as error:
        said = f"stopped after {seconds:.0f} s\n{error.stdout or ''}"
    with open(f"{stem}.log", "w") as file:
        file.write(said)
    for line in said.splitlines():
        if "ERROR" in line or "Error" in line:
            print(line, flush=True)
    if not os.path.exists(f"{stem}.ncu-rep"):
        return False
    with open(f"{stem}.ncu.csv", "w") as file:
        subprocess.run([ncu, "--import", f"{stem}.ncu-rep", *PRINT], stdout=file, stderr=subprocess.STDOUT)
    return True


def notes(stem):
    """What was noted of each twin in an attempt, the last of each, in the order of launches."""
    if not os.path.exists(f"{stem}.launched.jsonl"):
        return {}
    with open(f"{stem}.launched.jsonl") as file:
        return {one["name"]: one for one in map(json.loads, file)}


def summary(folder, out, names, seconds):
    """Says which twins were measured, and which gave other results than the simulator."""
    told = {}
    for attempt in range(1, ATTEMPTS + 1):
        told |= notes(os.path.join(out, str(attempt)))
    wanted = [launch.name for launch in all_launches(folder, names)]
    right = [name for name in wanted if is_right(told.get(name))]
    troubled = [name for name in wanted if name in told and name not in right]
    for name in troubled[:SHOWN]:
        print(f"{name}: {told[name]['state']}; {told[name]['why'] or 'its launch did not end'}"[:300])
    if len(troubled) > SHOWN:
        print(f"... and {len(troubled) - SHOWN} more")
    late = sum(name not in told for name in wanted)
    print(f"{len(right)} of {len(wanted)} twins gave the simulator's results bit by bit; {len(troubled)} did not, "
          f"{late} had no turn; {seconds:.0f} s")
    return 0 if len(right) == len(wanted) else 1


def is_right(noted):
    """Whether a twin ran and left what the simulator left."""
    return noted is not None and noted["state"] == "done" and not noted["why"]

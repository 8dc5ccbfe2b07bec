"""Records the launches of `gpulab count`, as Oclgrind makes them: sources, definitions, sizes, arguments and buffers."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import runs

HERE = os.path.dirname(os.path.abspath(__file__))
CPP = ["-std=c++17", "-O2", "-fPIC", "-shared", "-fno-rtti"]

# gpulab names its own plugin; ours goes with it.
WRAPPER = """#!/bin/sh
for word do
    shift
    case $before in --plugins) word=$word:{plugin};; esac
    before=$word
    set -- "$@" "$word"
done
exec {oclgrind} "$@"
"""


def record(gpulab, folder, names):
    """Records runs into a folder, a file each beside gpulab's counts."""
    os.makedirs(folder, exist_ok=True)
    oclgrind = shutil.which("oclgrind") or sys.exit("there is no oclgrind: install what `gpulab count` needs")
    with tempfile.TemporaryDirectory() as scratch:
        plugin, wrapper = os.path.join(scratch, "record.so"), os.path.join(scratch, "oclgrind")
        subprocess.run(["c++", *CPP, os.path.join(HERE, "record.cpp"), "-o", plugin], check=True)
        with open(wrapper, "w") as file:
            file.write(WRAPPER.format(plugin=plugin, oclgrind=oclgrind))
        os.chmod(wrapper, 0o755)
        for name in names:
            launches = os.path.join(scratch, name)
            os.makedirs(launches)
            count(gpulab, folder, name, {"PATH": f"{scratch}:{os.environ['PATH']}", "COUNT_NCU_RECORD": launches})
            kept = keep(launches, os.path.join(folder, f"{name}.json"))
            runs.launches(folder, name)
            print(f"{name}: {kept} launches", flush=True)


def count(gpulab, folder, name, variables):
    """Has gpulab count a run."""
    counts = os.path.join(folder, f"{name}.csv")
    command = [gpulab, "count", *runs.RUNS[name].split(), "-q", "--csv", counts]
    done = subprocess.run(command, env=os.environ | variables, stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}")


def keep(folder, path):
    """Joins the files of all launches; how many there are."""
    launches = []
    while os.path.exists(start := os.path.join(folder, f"{len(launches) + 1}.json")):
        with open(start) as file:
            launch = json.load(file)
        for index, argument in enumerate(launch["arguments"]):
            add_bytes(argument, os.path.join(folder, f"{len(launches) + 1}.{index}"))
        launches.append(launch)
    with open(path, "w") as file:
        json.dump(launches, file)
    return len(launches)


def add_bytes(argument, stem):
    """Adds what an argument held before the launch, and after it if that differs."""
    if argument["is"] == "missing":
        sys.exit(f"{stem}: an argument that cannot be recorded")
    if argument["is"] != "local":
        before = read(f"{stem}.before")
        argument["before"] = runs.packed(before)
        if argument["is"] == "buffer" and (after := read(f"{stem}.after")) != before:
            argument["after"] = runs.packed(after)


def read(path):
    with open(path, "rb") as file:
        return file.read()

#!/usr/bin/env python3
"""Loads a file that gpulab wrote with --csv, sums it up, and plots it.

    gpulab lab stride --csv stride.csv
    python3 plot.py stride.csv                 # a summary; needs Python alone
    python3 plot.py stride.csv -o stride.png   # a picture; needs pandas and matplotlib

`gpulab columns` says what each column holds.
"""

import argparse
import csv
import sys


def ranges(lines, name, value, unit):
    """The least and the largest value of each name, in the order of the names' first lines."""
    found = {}
    for line in lines:
        if line["status"] == "ok" and line[value]:
            found.setdefault((line[name], line.get(unit, unit)), []).append(float(line[value]))
    return [f"  {name}: {min(all):g} to {max(all):g} {unit}" for (name, unit), all in found.items()]


def summary(path):
    """Text from the csv module alone: what was measured, and the range of each rung or series."""
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines or "status" not in lines[0]:
        sys.exit(f"{path}: no rows or points of gpulab")
    # The CPU baselines of ladders are rows too.
    lines = [line for line in lines if line["platform"] != "host"] or lines
    first, is_points = lines[0], "series" in lines[0]
    what = first["experiment" if is_points else "family"]
    found = ranges(lines, "series", "value", "unit") if is_points else ranges(lines, "variant", "gbps", "GB/s")
    return "\n".join([f"{what} on {first['device']}", *found])


def plot(path, picture):
    """A line for each series over x, or a bar for each rung."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import pandas as pd

    frame = pd.read_csv(path)
    frame = frame[frame.status == "ok"]
    figure, axes = plt.subplots(figsize=(8, 5))
    if "series" in frame:
        # One picture has one axis: the metric that most points have.
        metric = frame.metric.mode()[0]
        frame = frame[frame.metric == metric]
        for name, line in frame.sort_values("x").groupby("series", sort=False):
            axes.errorbar(line.x, line.value, yerr=line.value * line.noise / 2, marker="o", capsize=2, label=name)
        if (frame.x > 0).all() and frame.x.max() > 50 * frame.x.min():
            axes.set_xscale("log", base=2)
        axes.set(xlabel=frame.x_name.iloc[0], ylabel=f"{metric} in {frame.unit.iloc[0]}", title=frame.experiment.iloc[0])
        axes.legend(fontsize="small")
    else:
        frame = frame[frame.platform != "host"]
        best_of = frame.groupby("variant", sort=False).gbps.max()
        axes.bar(best_of.index, best_of.to_numpy())
        axes.tick_params(axis="x", rotation=45)
        axes.set(ylabel="GB/s", title=f"{frame.family.iloc[0]} on {frame.device.iloc[0]}")
    figure.tight_layout()
    figure.savefig(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="rows or points, as --csv writes them")
    parser.add_argument("-o", "--output", help="the picture to write")
    options = parser.parse_args()
    print(summary(options.file))
    if options.output:
        plot(options.file, options.output)


if __name__ == "__main__":
    main()

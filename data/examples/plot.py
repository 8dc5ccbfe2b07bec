#!/usr/bin/env python3
"""Loads a file that gpulab wrote with --csv, sums it up, and plots it.

    gpulab lab stride --csv stride.csv
    python3 plot.py stride.csv                 # a summary; needs Python alone
    python3 plot.py stride.csv -o stride.png   # a picture; needs pandas and matplotlib

A file of rows has a part for each problem (a ladder or a sweep at one size), a file of points one for each experiment.
`gpulab help columns` says what each column holds.
"""

import argparse
import csv
import math
import os
import sys

# What rows of one problem have in common.
PROBLEM = ["family", "device", "n", "m", "dtype", "cache"]


def is_points(columns):
    """Whether a file with these columns holds the points of experiments, rather than rows."""
    return "series" in columns


def title(family, device, n, m, dtype, cache):
    size = f"n = {n}" if str(m) in ("", "1") else f"{n} x {m}"
    return f"{family} on {device}: {size}, {dtype}, {cache} cache"


def rate(family):
    """The column that holds a family's rate, its unit, and how many of the column's it counts as one."""
    return ("gops", "Gpair/s", 2) if family == "minplus" else ("gbps", "GB/s", 1)


def parts_of(lines):
    """The numbers of each part, by its title and then by the names and units of series, or the rungs."""
    parts = {}
    for line in lines:
        if is_points(line):
            head, name, value = f"{line['experiment']} on {line['device']}", line["series"], line["value"]
            unit = line["unit"]
        else:
            column, unit, of = rate(line["family"])
            head, name, value = title(*(line[name] for name in PROBLEM)), line["variant"], line[column]
        names = parts.setdefault(head, {})
        if line["status"] == "ok" and value:
            scale = 1 if is_points(line) else of
            names.setdefault((name, unit), []).append(float(value) / scale)
    return parts


def summary(path):
    """Text from the csv module alone: what was measured, and the range of each rung or series."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {error}")
    if not lines or not ("series" in lines[0] or "variant" in lines[0]):
        sys.exit(f"{path}: no rows of a ladder or a sweep and no points of an experiment")
    # The CPU baselines of ladders are rows too.
    text = []
    for head, names in parts_of([line for line in lines if line["platform"] != "host"] or lines).items():
        text.append(head)
        for (name, unit), values in names.items():
            least, most = min(values), max(values)
            text.append(f"  {name}: {least:g}{'' if least == most else f' to {most:g}'} {unit}")
    return "\n".join(text)


def is_wide(values):
    """Whether a range is so wide that a logarithmic axis shows more of it."""
    return (values > 0).all() and values.max() > 50 * values.min()


def draw_experiment(axes, points):
    """A line for each series over x, or a bar for each where x never changes."""
    import matplotlib

    # One chart has one axis: the metric and unit that most points have.
    metric, unit = points[["metric", "unit"]].value_counts().index[0]
    points = points[(points.metric == metric) & (points.unit == unit)]
    first = points.iloc[0]
    value = f"{metric} in {unit}"
    if points.x.nunique() == 1:
        points = points.iloc[::-1]
        axes.figure.set_figheight(max(axes.figure.get_figheight(), 0.15 * len(points)))
        axes.barh(points.series, points.value, xerr=points.value * points.noise / 2)
        axes.set(xlabel=value, xscale="log" if is_wide(points.value) else "linear")
        axes.tick_params(axis="y", labelsize="x-small")
    else:
        axes.set_prop_cycle(color=matplotlib.colormaps["tab20"].colors)
        for name, line in points.sort_values("x").groupby("series", sort=False):
            # Names such as __constant: a legend leaves out what begins with an underscore.
            name = f" {name}" if name.startswith("_") else name
            axes.errorbar(line.x, line.value, yerr=line.value * line.noise / 2, marker="o", capsize=2, label=name)
        if is_wide(points.x):
            axes.set_xscale("log", base=2)
        if is_wide(points.value):
            axes.set_yscale("log")
        axes.set(xlabel=first.x_name, ylabel=value)
        axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    axes.set_title(f"{first.experiment} on {first.device}", fontsize="medium")


def draw_problem(axes, rows):
    """A bar for each rung: of a sweep, which has several rows of each, for the fastest one."""
    first = rows.iloc[0]
    column, unit, of = rate(first.family)
    best = rows.groupby("variant", sort=False)[column].max() / of
    axes.bar(best.index, best.to_numpy())
    axes.tick_params(axis="x", rotation=90, labelsize="small")
    axes.set_ylabel(unit)
    axes.set_title(title(*(first[name] for name in PROBLEM)), fontsize="small")


def plot(path, picture):
    """A picture with a chart for each part of the file."""
    import matplotlib.pyplot as plt
    import pandas as pd

    frame = pd.read_csv(path)
    frame = frame[frame.status == "ok"]
    if is_points(frame):
        draw, parts = draw_experiment, frame.dropna(subset=["value"]).groupby(["experiment", "device"], sort=False)
    else:
        rows = frame[frame.platform != "host"]
        # A kernel whose work is repeated inside one launch answers another question.
        rows = rows[~rows.params.astype(str).str.contains("nreps=")]
        draw, parts = draw_problem, rows.groupby(PROBLEM, sort=False)
    parts = [part for _, part in parts]
    if not parts:
        sys.exit(f"{path}: there is nothing to plot, as no result in it is ok")
    wide = math.ceil(math.sqrt(len(parts)))
    high = math.ceil(len(parts) / wide)
    figure, all_axes = plt.subplots(high, wide, figsize=(8 * wide, 5 * high), squeeze=False, layout="constrained")
    for axes, part in zip(all_axes.flat, parts):
        draw(axes, part)
    for axes in all_axes.flat[len(parts) :]:
        axes.remove()
    figure.savefig(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="rows or points, as --csv writes them")
    parser.add_argument("-o", "--output", help="the picture to write")
    options = parser.parse_args()
    print(summary(options.file))
    if options.output:
        # Pictures need no display.
        os.environ.setdefault("MPLBACKEND", "Agg")
        try:
            plot(options.file, options.output)
        except ImportError as error:
            sys.exit(f"a picture needs pandas and matplotlib: {error}")


if __name__ == "__main__":
    main()

"""Counts of `gpulab count` beside the counters of a GPU."""

import collections
import csv
import glob
import os

import explained
import measure
import metrics
import ncu_csv

Line = collections.namedtuple("Line", "launch quantity counted measured verdict")

EQUAL, NEAR, BOTH_NONE, DIFFERENT, MISSING = "equal", "within 10 %", "both 0", "DIFFERENT", "not measured"
BESIDE = "not judged: SASS is not LLVM's IR"


CSV_HEAD = ("peer", "launch", "kernel", "case", "quantity", "counted", "measured", "verdict", "explanation")


def compare(folder, out, names, verbose, csv_file):
    """Prints the table and writes the file, if asked; 1 if something differs for no known reason, or was not measured."""
    counters = measured_rows(out)
    all_lines = []
    for launch in measure.all_launches(folder, names):
        all_lines += lines(launch, counters.get(launch.name))
    shown = [line for line in all_lines if verbose or line.verdict not in (EQUAL, NEAR, BOTH_NONE, BESIDE)]
    if shown:
        print_table(shown)
    print_summary(all_lines)
    if csv_file:
        write_csv(csv_file, all_lines)
    return 1 if any(line.verdict in (DIFFERENT, MISSING) for line in all_lines) or not all_lines else 0


def measured_rows(out):
    """Rows of counters by the names of launches, from all attempts; of twins whose results are the simulator's alone."""
    found = {}
    for path in sorted(glob.glob(os.path.join(out, "[0-9]*.ncu.csv"))):
        rows = ncu_csv.read(path)
        noted = measure.notes(path[: -len(".ncu.csv")])
        launched = [one for one in noted.values() if one["state"] != "failed"]
        # The launch that a fault ended may have no row.
        for one, row in zip(launched, rows):
            if measure.is_right(one):
                found[one["name"]] = row
    return found


def lines(launch, row):
    """A launch's quantities."""
    if row is None:
        return [Line(launch, "all", "", "", MISSING)]
    check_identity(launch, row)
    judged = [line(launch, quantity, int(launch.counts[column]), row.get(counter))
              for quantity, (column, counter) in metrics.JUDGED.items()]
    cached = [line(launch, quantity, count(launch.counts), row.get(counter), metrics.NEAR)
              for quantity, (count, counter) in metrics.CACHES.items()]
    return [*judged, line(launch, "barriers", int(launch.counts["barriers"]), barriers(launch, row)), *cached,
            *beside(launch, row)]


def check_identity(launch, row):
    """Refuses a row that is of another launch."""
    groups = [whole // one for whole, one in zip(launch.recorded["global"], launch.recorded["local"])]
    wanted = (launch.kernel, groups, launch.recorded["local"])
    got = (row[ncu_csv.KERNEL].split("(")[0], *(ncu_csv.triple(row[size]) for size in ("Grid Size", "Block Size")))
    if wanted != got:
        raise ValueError(f"{launch.name}: ncu's row is of {got}, not of {wanted}")


def line(launch, quantity, counted, measured, near=0):
    """A quantity with its verdict; `near` is the share by which it may differ."""
    if not isinstance(measured, (int, float)):
        return Line(launch, quantity, counted, "", MISSING)
    if counted == measured:
        return Line(launch, quantity, counted, measured, EQUAL if counted else BOTH_NONE)
    if abs(measured - counted) <= near * counted:
        return Line(launch, quantity, counted, measured, NEAR)
    why = explained.explanation(launch, quantity, counted, measured)
    return Line(launch, quantity, counted, measured, f"explained: {why}" if why else DIFFERENT)


def barriers(launch, row):
    """Barriers of groups, of which each warp executes the instruction."""
    by_operation = row.get(metrics.BY_OPERATION)
    if not isinstance(by_operation, dict):
        return None
    return by_operation.get("BAR", 0) / launch.warps_of_group()


def beside(launch, row):
    """Instructions, of which there is no equality to ask: one compiler's beside another's."""
    warps, items = row.get(metrics.WARP_INSTRUCTIONS), row.get(metrics.ITEM_INSTRUCTIONS)
    if not (isinstance(warps, float) and isinstance(items, float) and warps):
        return [Line(launch, "instructions of warps", int(launch.counts["warp_instructions"]), "", MISSING)]
    busy = items / (warps * int(launch.counts["warp"]))
    return [
        Line(launch, "instructions of warps", int(launch.counts["warp_instructions"]), warps, BESIDE),
        Line(launch, "lanes busy", float(launch.counts["lanes_busy"]), busy, BESIDE),
    ]


def write_csv(path, all_lines):
    """A row for each launch and quantity, but for what a launch neither counts nor measures."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CSV_HEAD)
        for one in all_lines:
            if one.verdict != BOTH_NONE:
                verdict, _, why = one.verdict.partition(": ")
                which = (one.launch.name, one.launch.kernel, one.launch.case, one.quantity)
                writer.writerow(["ncu", *which, number(one.counted), number(one.measured), verdict, why])


def print_table(shown):
    """Lines under one another, quantities of a launch together."""
    cells = [(one.launch.name, one.launch.kernel, one.launch.case, one.quantity, number(one.counted),
              number(one.measured), ratio(one), one.verdict) for one in shown]
    head = ("launch", "kernel", "case", "quantity", "counted", "measured", "ratio", "verdict")
    widths = [max(len(row[i]) for row in [head, *cells]) for i in range(7)]
    for row in [head, *cells]:
        left = [text.ljust(width) for text, width in zip(row[:4], widths)]
        right = [text.rjust(width) for text, width in zip(row[4:7], widths[4:])]
        print("  ".join([*left, *right, row[7]]))


def number(value):
    """A number as short as it may be."""
    if value == "":
        return "-"
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def ratio(one):
    """Measured over counted."""
    return f"{one.measured / one.counted:.3f}" if one.counted and one.measured != "" else "-"


def print_summary(all_lines):
    """How many launches have which verdict, for each quantity."""
    verdicts = [EQUAL, NEAR, "explained", DIFFERENT, MISSING, BOTH_NONE]
    print(f"\n{'quantity':24}" + "".join(verdict.rjust(14) for verdict in verdicts) + "   measured / counted")
    for quantity in dict.fromkeys(one.quantity for one in all_lines):
        of = [one for one in all_lines if one.quantity == quantity]
        told = collections.Counter(one.verdict.partition(":")[0] for one in of)
        judged = [f"{told[verdict] or '-':>14}" for verdict in verdicts]
        if told["not judged"]:
            judged[:4] = [f"{'not judged':>56}"]
        print(f"{quantity:24}{''.join(judged)}   {spread(of)}")


def spread(of):
    """The ratios of lines that have one."""
    ratios = sorted(one.measured / one.counted for one in of if one.counted and one.measured != "")
    return f"{ratios[0]:.3f} to {ratios[-1]:.3f}, median {ratios[len(ratios) // 2]:.3f}" if ratios else "-"

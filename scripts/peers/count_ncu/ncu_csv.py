"""The CSV that `ncu --import REPORT --csv --page raw` prints: names, units, and a row for each launch."""

import csv
import re

KERNEL = "Kernel Name"
SCALES = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
COUNTED = ("inst", "sector", "request", "warp", "thread", "block", "byte", "cycle", "")
OPERATION = re.compile(r"\"?([A-Za-z_][\w.]*)\"?\s*:\s*([\d,]+)")


def read(path):
    """The rows of a file: by counter, the numbers, and as they are, names and counters with a number for each operation."""
    with open(path, newline="") as file:
        lines = [line for line in file if not line.startswith("==")]
    table = list(csv.reader(lines))
    if len(table) < 2 or KERNEL not in table[0]:
        raise ValueError(f"{path}: no CSV of ncu's raw page: {''.join(lines[:2]).strip()[:200] or 'it is empty'}")
    names, units, *rows = table
    return [{name: value(text, unit) for name, unit, text in zip(names, units, row)} for row in rows]


def value(text, unit):
    """A cell: a number in the unit's base, numbers by operation, or a text."""
    operations = OPERATION.findall(text)
    if operations and "(" in text:
        return {name: whole(number) for name, number in operations}
    try:
        return float(text.replace(",", "")) * scale(unit)
    except ValueError:
        return text


def whole(text):
    """A whole number with separators of thousands."""
    return int(text.replace(",", ""))


def scale(unit):
    """What a unit's prefix stands for, as in Kbyte or Minst."""
    for prefix, factor in SCALES.items():
        if unit.startswith(prefix) and unit[len(prefix) :].split("/")[0] in COUNTED:
            return factor
    return 1


def triple(text):
    """Three numbers, as in (128, 1, 1)."""
    return [int(number) for number in re.findall(r"\d+", text)]

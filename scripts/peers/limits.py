"""What clpeak says of a device beside the limits that gpulab measured there: one CSV that `gpulab show` reads."""

import csv
import re
from pathlib import Path
from typing import Iterator

COLUMNS = ["peer", "version", "device", "what", "value", "unit"]

# Names of what both measure: by place, what and element type of `gpulab ceiling`'s rows, and by section and line of clpeak's.
GPULAB = {
    ("memory", "read", ""): "read, GB/s",
    ("unit", "fma", "f32"): "fma f32, Gop/s",
    ("unit", "fma", "f64"): "fma f64, Gop/s",
    ("unit", "fma", "i32"): "fma i32, Gop/s",
    ("host", "to the device, pageable", ""): "to the device, GB/s",
    ("host", "launch, queued to start", ""): "queued to start, us",
}
CLPEAK = [
    ("Global memory bandwidth", r"float\d*", "read, GB/s"),
    ("Single-precision compute", r"float\d*", "fma f32, Gop/s"),
    ("Double-precision compute", r"double\d*", "fma f64, Gop/s"),
    ("Integer compute (GIOPS)", r"int\d*", "fma i32, Gop/s"),
    ("Transfer bandwidth", "enqueueWriteBuffer", "to the device, GB/s"),
    ("Kernel launch latency", "Kernel launch latency", "queued to start, us"),
]
TESTS = ["global-bandwidth", "compute-sp", "compute-dp", "compute-integer", "transfer-bandwidth", "kernel-latency"]


def of_gpulab(rows: Iterator[dict[str, str]]) -> dict[str, float]:
    """The limits among `gpulab ceiling`'s rows that clpeak has, too."""
    known = ((GPULAB.get((row["place"], row["what"], row["element"])), row) for row in rows)
    return {name: float(row["value"]) for name, row in known if name and row["status"] == "ok"}


def of_clpeak(said: str) -> dict[str, float]:
    """The best of each section of clpeak's output; of the launch its one figure."""
    found: dict[str, float] = {}
    section = ""
    for line in said.splitlines():
        name, _, value = (part.strip() for part in line.rpartition(":"))
        number = re.match(r"[\d.]+", value)
        if not number:
            section = line.strip()
            continue
        for title, pattern, what in CLPEAK:
            if (section.startswith(title) or title == name) and re.fullmatch(pattern, name):
                found[what] = max(found.get(what, 0.0), float(number[0]))
    return found


class Limits:
    """Figures of both by device, and the file that they go to."""

    def __init__(self) -> None:
        self.figures: dict[tuple[str, str, str, str], float] = {}

    def add(self, peer: str, version: str, device: str, figures: dict[str, float]) -> None:
        """What one of both measured on a device; of several times the best."""
        for what, value in figures.items():
            key = (peer, version, device, what)
            best = min if what.endswith("us") else max
            self.figures[key] = best(value, self.figures.get(key, value))

    def write(self, path: Path) -> None:
        """The CSV, whole; none without a row."""
        if self.figures:
            with open(path, "w", newline="") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(COLUMNS)
                for (*names, what), value in self.figures.items():
                    out.writerow([*names, what, f"{value:.4g}", what.rpartition(", ")[2]])

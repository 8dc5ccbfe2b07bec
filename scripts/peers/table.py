"""What all rounds come to: one table, as text and as CSV."""

import csv
import statistics
from pathlib import Path
from typing import NamedTuple

from asking import Answer, Work

COLUMNS = [
    "peer", "version", "device", "threads", "work", "dtype", "n", "m", "shape", "clock", "sets", "rounds", "runs",
    "t_median_s", "t_min_s", "t_batch_s", "gbps", "ratio", "ratio_batch", "of_limit",
]  # fmt: skip


class Place(NamedTuple):
    """Where something was measured."""

    device: str
    threads: str


class Line(NamedTuple):
    """One contender's figures of one shape; `ratio`s are its times over those of gpulab's fastest by the same clock."""

    peer: str
    version: str
    place: Place
    work: str
    dtype: str
    shape: tuple[int, int]
    clock: str
    sets: str
    rounds: int
    runs: int
    median: float
    best: float
    batch: float | None
    gbps: float | None
    ratio: float | None
    ratio_batch: float | None
    of_limit: float | None

    def cells(self) -> list[str]:
        """As the CSV has them."""

        def text(value: float | None, form: str) -> str:
            return "" if value is None else format(value, form)

        n, m = self.shape
        return [
            self.peer, self.version, *self.place, self.work, self.dtype, str(n), str(m), size(self.shape), self.clock,
            self.sets, str(self.rounds), str(self.runs), f"{self.median:.4e}", f"{self.best:.4e}",
            text(self.batch, ".4e"), text(self.gbps, ".1f"), text(self.ratio, ".2f"), text(self.ratio_batch, ".2f"),
            text(self.of_limit, ".2f"),
        ]  # fmt: skip


def size(shape: tuple[int, int]) -> str:
    """`2^20` of a vector, `4096 x 4096` of a matrix: columns by rows."""
    n, m = shape
    if m > 1:
        return f"{n} x {m}"
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


class Table:
    """Answers by place, problem, shape and contender."""

    def __init__(self) -> None:
        self.answers: dict[tuple[Place, str, str, tuple[int, int]], dict[str, list[Answer]]] = {}
        self.refused: dict[tuple[str, str, str, str], list[str]] = {}
        # Where a rung of gpulab's has no figures: which is the fastest is not known.
        self.unsure: set[tuple[Place, str, str, tuple[int, int]]] = set()
        # Of each place by `read`, `copy` (bytes a second) and `add-min` (pairs a second).
        self.limits: dict[Place, dict[str, float]] = {}

    def add(self, place: Place, work: Work, answer: Answer) -> None:
        """Keeps an answer; one without figures is kept with its reason."""
        if answer.why_not:
            key = (answer.peer, work.family, work.dtype, answer.why_not)
            shapes = self.refused.setdefault(key, [])
            shapes.extend({size(answer.shape)} - set(shapes))
            if answer.peer.startswith("gpulab"):
                self.unsure.add((place, work.family, work.dtype, answer.shape))
            return
        key = (place, work.family, work.dtype, answer.shape)
        self.answers.setdefault(key, {}).setdefault(answer.peer, []).append(answer)

    def lines(self) -> list[Line]:
        """Medians of rounds' medians, and the best of all, in the order in which they were first measured."""
        lines = []
        for (place, work, dtype, shape), by_peer in self.answers.items():
            medians = {peer: statistics.median(a.median for a in answers) for peer, answers in by_peer.items()}
            batches = {peer: batch_of(answers) for peer, answers in by_peer.items()}
            owns = [peer for peer in medians if peer.startswith("gpulab")]
            is_unsure = (place, work, dtype, shape) in self.unsure
            own = None if is_unsure else min(owns, key=medians.__getitem__, default=None)
            every = [answer for answers in by_peer.values() for answer in answers]
            moved = next((a.bytes for a in every if a.bytes and work != "minplus"), None)
            limit = self.least_time(place, work, dtype, shape, moved)
            for peer, answers in by_peer.items():
                median, batch, last = medians[peer], batches[peer], answers[-1]
                own_batch = batches[own] if own else None
                gbps = moved / median / 1e9 if moved else None
                lines.append(
                    Line(
                        peer, last.version, place, work, dtype, shape, last.clock, last.sets, len(answers),
                        sum(a.runs for a in answers), median, min(a.best for a in answers), batch, gbps,
                        median / medians[own] if own else None,
                        batch / own_batch if batch and own_batch else None,
                        limit / median if limit else None,
                    )  # fmt: skip
                )
        return lines

    def least_time(
        self, place: Place, work: str, dtype: str, shape: tuple[int, int], moved: int | None
    ) -> float | None:
        """Seconds that the measured limit of memory, or of arithmetic, allows."""
        limits = self.limits.get(place, {})
        if work == "minplus":
            rate = limits.get(f"add-min {dtype}")
            return shape[0] ** 3 / rate if rate else None
        rate = limits.get("copy" if work == "transpose" else "read")
        return moved / rate if rate and moved else None

    def write(self, path: Path) -> None:
        """The CSV, whole."""
        with open(path, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(COLUMNS)
            out.writerows(line.cells() for line in self.lines())

    def text(self) -> str:
        """The table to look at, and below it who was faster how often, and what has no figures."""
        heads = ["work", "size", "peer", "clock", "median us", "best us", "batch us", "GB/s", "ratio", "batch", "limit"]
        cells, at = [heads], None
        for line in self.lines():
            where = f"{line.place.device}, {line.place.threads} threads" if line.place.threads else line.place.device
            key = (line.place, line.work, line.dtype, line.shape)
            named = [f"{line.work} {line.dtype}, {where}", size(line.shape)] if key != at else ["", ""]
            at = key
            full = line.cells()
            batch = f"{line.batch * 1e6:.2f}" if line.batch else "-"
            figures = [f"{line.median * 1e6:.2f}", f"{line.best * 1e6:.2f}", batch]
            cells.append([*named, line.peer, line.clock, *figures, *(cell or "-" for cell in full[16:])])
        widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
        aligned = [
            "  ".join(c.ljust(w) if i < 4 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))) for row in cells
        ]
        return "\n".join([*(line.rstrip() for line in aligned), "", *self.sums(), *self.gaps()]) + "\n"

    def sums(self) -> list[str]:
        """Against each peer: at how many shapes gpulab's fastest is ahead, level within 2 %, and behind."""
        ratios: dict[tuple[str, Place, str, str], list[tuple[float, str]]] = {}
        for line in self.lines():
            if line.ratio and not line.peer.startswith("gpulab"):
                key = (line.peer, line.place, line.work, line.dtype)
                ratios.setdefault(key, []).append((line.ratio, size(line.shape)))
        told = []
        for (peer, place, work, dtype), all_of in ratios.items():
            ahead, behind = (sum(r > 1.02 for r, _ in all_of), sum(r < 0.98 for r, _ in all_of))
            low, high = min(all_of), max(all_of)
            told.append(
                f"{work} {dtype}, {' '.join(place).strip()}: {peer} takes {low[0]:.2f} ({low[1]}) to {high[0]:.2f} "
                f"({high[1]}) of gpulab's time; gpulab is ahead at {ahead}, level at {len(all_of) - ahead - behind} "
                f"and behind at {behind} of {len(all_of)} sizes"
            )
        return told

    def gaps(self) -> list[str]:
        """What has no figures, and why."""
        return [
            f"no figures: {peer}, {work} {dtype}, {', '.join(shapes)}: {why}"
            for (peer, work, dtype, why), shapes in self.refused.items()
        ]


def batch_of(answers: list[Answer]) -> float | None:
    """The median of the rounds' times back to back."""
    batches = [a.batch for a in answers if a.batch]
    return statistics.median(batches) if batches else None

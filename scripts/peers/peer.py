"""What the peers in Python have in common; the words that they are asked in and answer with are in peer.hpp."""

import os
import statistics
import sys
import time
from typing import Callable, NamedTuple


class Case(NamedTuple):
    work: str
    dtype: str
    n: int
    m: int
    sample_s: float


class Figures(NamedTuple):
    sets: int
    runs: int
    median: float
    best: float
    batch: float | None = None


def sets_of(size: int) -> int:
    """Enough copies to have PEERS_BYTES together (256 MiB where it is not set), from 2 to 256: gpulab's own rule."""
    wanted = int(os.environ.get("PEERS_BYTES", 256 << 20))
    return min(max(-(-wanted // size), 2), 256)


def sample(sets: int, sample_s: float, once: Callable[[int], float]) -> Figures:
    """Samples of `once(set)`, which gives seconds, until `sample_s` is over: 10 to 1000, after 5 for warming up."""
    for run in range(5):
        once(run % sets)
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < 10 or (len(times) < 1000 and time.perf_counter() < began + sample_s):
        times.append(once((5 + len(times)) % sets))
    return Figures(sets, len(times), statistics.median(times), min(times))


def wall(sets: int, sample_s: float, call: Callable[[int], object]) -> Figures:
    """By the host's clock: from before a call until it is done."""

    def once(at: int) -> float:
        began = time.perf_counter()
        call(at)
        return time.perf_counter() - began

    return sample(sets, sample_s, once)


def serve(name: str, version: str, measure: Callable[[Case], Figures]) -> None:
    """Reads cases and answers them; what `measure` raises is the reason for an answer without figures."""
    print(name, version, flush=True)
    for line in sys.stdin:
        work, dtype, n, m, sample_s = line.split()
        try:
            got = measure(Case(work, dtype, int(n), int(m), float(sample_s)))
            batch = "-" if got.batch is None else f"{got.batch:.5e}"
            print(f"ok {got.sets} {got.runs} {got.median:.5e} {got.best:.5e} {batch}", flush=True)
        except Exception as error:  # whatever a library raises
            why = " ".join(str(error).split())[:200]
            print(f"no {why or type(error).__name__}", flush=True)

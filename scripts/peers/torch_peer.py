#!/usr/bin/env python3
"""PyTorch's sum, dot product and contiguous copy of a transposed matrix, asked as peer.hpp says.

echo "dot f32 1000000 1 0.1" | scripts/peers/torch_peer.py [cuda|cpu [THREADS]]
"""

import sys
import time

import torch
from peer import Case, Figures, sample, serve, sets_of, wall

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
if len(sys.argv) > 2:
    torch.set_num_threads(int(sys.argv[2]))


def measure(asked: Case) -> Figures:
    try:
        with torch.inference_mode():
            return measured(asked)
    finally:
        if DEVICE == "cuda":
            torch.cuda.empty_cache()


def measured(asked: Case) -> Figures:
    n, m = asked.n, asked.m

    def floats(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, device=DEVICE) + 0.5

    match asked.work, asked.dtype:
        case "reduce", "i32" | "f32":
            one = floats(n) if asked.dtype == "f32" else torch.randint(-64, 64, (n,), dtype=torch.int32, device=DEVICE)
            sets = sets_of(4 * n)
            x = [one.clone() for _ in range(sets)]
            figures = timed(sets, asked.sample_s, lambda at: torch.sum(x[at], dtype=one.dtype))
            got, want = torch.sum(x[1], dtype=one.dtype).item(), one.double().sum().item()
            assert abs(got - want) <= (1e-4 * abs(want) if asked.dtype == "f32" else 0), f"WRONG: {got}, not {want}"
        case "dot", "f32":
            one, other = floats(n), floats(n)
            sets = sets_of(8 * n)
            x, y = ([a.clone() for _ in range(sets)] for a in (one, other))
            figures = timed(sets, asked.sample_s, lambda at: torch.dot(x[at], y[at]))
            got, want = torch.dot(x[1], y[1]).item(), (one.double() * other).sum().item()
            assert abs(got - want) <= 1e-4 * want, f"WRONG: {got}, not {want}"
        case "transpose", "f32":
            one = floats(m, n)
            sets = sets_of(8 * n * m)
            x, y = [one.clone() for _ in range(sets)], [torch.zeros(n, m, device=DEVICE) for _ in range(sets)]
            # Into memory that is there, as gpulab does: x.t().contiguous() without its allocation.
            figures = timed(sets, asked.sample_s, lambda at: y[at].copy_(x[at].t()))
            assert torch.equal(y[0], one.t().contiguous()), "WRONG: not transposed"
        case _:
            raise ValueError(f"{asked.work} of {asked.dtype}: not among what this peer does")
    return figures


def timed(sets: int, sample_s: float, call) -> Figures:
    """On a GPU by one pair of events around each call, and back to back; else by the host's clock."""
    if DEVICE != "cuda":
        return wall(sets, sample_s, call)
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def once(at: int) -> float:
        start.record()
        call(at)
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) * 1e-3

    figures = sample(sets, sample_s, once)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for run in range(figures.runs):
        call(run % sets)
    torch.cuda.synchronize()
    return figures._replace(batch=(time.perf_counter() - began) / figures.runs)


if DEVICE == "cuda" and not torch.cuda.is_available():
    sys.exit("this PyTorch sees no GPU")
serve("torch", torch.__version__, measure)

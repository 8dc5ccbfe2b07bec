#!/usr/bin/env python3
"""numpy's sum, dot product and copy of a transposed matrix, asked as peer.hpp says.

echo "dot f32 1000000 1 0.1" | scripts/peers/numpy_peer.py
"""

import numpy as np
from peer import Case, Figures, serve, sets_of, wall


def measure(asked: Case) -> Figures:
    random = np.random.default_rng(1)
    n, m = asked.n, asked.m

    def floats(seed: int, size: int) -> np.ndarray:
        return np.random.default_rng(seed).random(size, np.float32) + np.float32(0.5)

    match asked.work, asked.dtype:
        case "reduce", "i32" | "f32":
            one = floats(1, n) if asked.dtype == "f32" else random.integers(-64, 64, n, np.int32)
            sets = sets_of(one.nbytes)
            x = [one.copy() for _ in range(sets)]
            result = np.empty(1, one.dtype)
            figures = wall(sets, asked.sample_s, lambda at: np.sum(x[at], dtype=one.dtype, out=result[0:1].reshape(())))
            want = float(np.sum(one, dtype=np.float64))
            assert abs(result[0] - want) <= (1e-4 * abs(want) if asked.dtype == "f32" else 0), "WRONG: sum"
        case "dot", "f32":
            one, other = floats(1, n), floats(2, n)
            sets = sets_of(2 * one.nbytes)
            x, y = ([a.copy() for _ in range(sets)] for a in (one, other))
            figures = wall(sets, asked.sample_s, lambda at: np.dot(x[at], y[at]))
            want = np.sum(one.astype(np.float64) * other)
            assert abs(np.dot(one, other) - want) <= 1e-4 * want, "WRONG: dot product"
        case "transpose", "f32":
            one = floats(1, n * m).reshape(m, n)
            sets = sets_of(2 * one.nbytes)
            x, y = [one.copy() for _ in range(sets)], [np.zeros((n, m), np.float32) for _ in range(sets)]
            figures = wall(sets, asked.sample_s, lambda at: np.copyto(y[at], x[at].T))
            assert np.array_equal(y[0], one.T), "WRONG: not transposed"
        case _:
            raise ValueError(f"{asked.work} of {asked.dtype}: not among what this peer does")
    return figures


serve("numpy", np.__version__, measure)

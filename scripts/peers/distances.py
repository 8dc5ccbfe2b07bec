#!/usr/bin/env python3
"""All shortest distances of random graphs, from file to file: gpulab beside SciPy's methods.

scripts/peers/distances.py target/release/gpulab -d nvidia > distances.csv

Each graph has a cycle through all nodes, and other edges of random weights between 1 and 1000. SciPy reads the matrix from a .npz
and writes a .npy, gpulab reads a list of edges as CSV. The answers are compared. A method that takes longer than the limit on one
graph is not asked about graphs with more nodes.

With DIJKSTRA=PATH, the program of scripts/peers/dijkstra, built with cargo, takes part: petgraph's algorithms, and Dijkstra's on all
threads, from all nodes and from three, beside gpulab with --from.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import shortest_path

SIZES = [1000, 2000, 4000, 10000, 30000]
DEGREES = {"8 edges a node": lambda n: 8, "density 0.1": lambda n: n // 10, "density 0.5": lambda n: n // 2}
LIMIT_S = 15.0
MOST_EDGES = 10_000_000


def graph(n: int, degree: int) -> sparse.csr_array:
    random = np.random.default_rng(n + degree)
    start = np.repeat(np.arange(n), degree)
    end = (start + 1 + np.concatenate([np.zeros((n, 1), int), random.integers(1, n - 1, (n, degree - 1))], axis=1).ravel()) % n
    _, first = np.unique(start * n + end, return_index=True)
    weight = random.integers(1, 1001, len(first)).astype(np.float32)
    return sparse.csr_array((weight, (start[first], end[first])), shape=(n, n))


def gpulab(command: list[str], folder: Path, *options: str) -> dict[str, float]:
    began = time.perf_counter()
    ran = subprocess.run(
        [command[0], "minplus", *command[1:], "--closure", "--input", folder / "edges.csv", "-o", folder / "gpulab.npy", *options],
        capture_output=True, text=True, check=False)
    whole = time.perf_counter() - began
    if ran.returncode:
        sys.exit(ran.stderr)
    kernels, beside = re.search(r"([\d.]+) s of kernels, ([\d.]+) s with transfers", ran.stderr).groups()
    return {"gpulab kernels": float(kernels), "gpulab with transfers": float(beside), "gpulab": whole}


def dijkstra(folder: Path, *sources: str) -> dict[str, float]:
    if not (program := os.environ.get("DIJKSTRA")):
        return {}
    lines = subprocess.run([program, folder / "edges.csv", str(4 * LIMIT_S), *sources], capture_output=True, text=True, check=True)
    distances = np.load(folder / "gpulab.npy").astype(np.float64)
    seconds = {}
    for what, took, total in csv.reader(lines.stdout.splitlines()):
        assert np.isclose(float(total), distances[np.isfinite(distances)].sum(), rtol=1e-6), f"{what}: other distances"
        seconds[what] = float(took)
    return seconds


def scipy(method: str, folder: Path) -> float:
    began = time.perf_counter()
    found = shortest_path(sparse.load_npz(folder / "edges.npz"), method=method)
    np.save(folder / "scipy.npy", found.astype(np.float32))
    return time.perf_counter() - began


def main() -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["n", "edges", "graph", "what", "seconds"])
    slow = set()
    for n in SIZES:
        for name, degree in DEGREES.items():
            if n * degree(n) > MOST_EDGES:
                continue
            with tempfile.TemporaryDirectory() as path:
                folder = Path(path)
                edges = graph(n, degree(n))
                sparse.save_npz(folder / "edges.npz", edges, compressed=False)
                listed = edges.tocoo()
                rows = np.column_stack([listed.row, listed.col, listed.data.astype(int)])
                np.savetxt(folder / "edges.csv", rows, "%d", ",", header="from,to,weight", comments="")
                tell = lambda what, seconds: (out.writerow([n, edges.nnz, name, what, f"{seconds:.4f}"]), sys.stdout.flush())
                if "DIJKSTRA" in os.environ:
                    for what, seconds in (gpulab(sys.argv[1:], folder, "--from", "0,1,2") | dijkstra(folder, "3")).items():
                        tell(f"{what}, from 3", seconds)
                for what, seconds in (gpulab(sys.argv[1:], folder) | dijkstra(folder)).items():
                    tell(what, seconds)
                for method, what in [("D", "SciPy Dijkstra"), ("FW", "SciPy Floyd-Warshall")]:
                    if (what, name) in slow:
                        continue
                    seconds = scipy(method, folder)
                    tell(what, seconds)
                    slow |= {(what, name)} if seconds > LIMIT_S else set()
                    order = [int(node) for node in dict.fromkeys(rows[:, :2].ravel())]
                    want = np.load(folder / "scipy.npy")[np.ix_(order, order)]
                    assert np.allclose(np.load(folder / "gpulab.npy"), want, rtol=1e-5), f"{what}: other distances"


if __name__ == "__main__":
    main()

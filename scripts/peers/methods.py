#!/usr/bin/env python3
"""All shortest distances by gpulab and by others on the CPU, from a graph in memory to a matrix in memory.

scripts/peers/methods.py PATH/dijkstra gpulab -d pocl > methods.csv

gpulab's time is what it reports, with transfers; `gpulab kernels` is its launches alone, `one product` the launches of one min-plus
product: squaring takes ceil(log2 n) of them. SciPy starts from its sparse matrix, petgraph and rayon from a list of edges
(`scripts/peers/dijkstra`, built by cargo). No time includes reading, proving or writing. Weights are whole numbers, and all matrices must be equal. The methods take
turns until each took BUDGET_S in all, or had ROUNDS turns; the least of its times counts.
"""

import csv
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from scipy.io import mmwrite
from distances import graph
from scipy.sparse.csgraph import shortest_path

SIZES = [256, 512, 1024, 1536, 2048]
DENSITIES = [0.005, 0.05, 0.5]
ROUNDS = 5
BUDGET_S = 6.0

Answer = tuple[dict[str, float], np.ndarray]


def told(command: list[str], folder: Path, *options: str) -> list[float]:
    job = ["--input", folder / "edges.mtx", "-o", folder / "gpulab.npy", *options]
    ran = subprocess.run([command[0], "minplus", *command[1:], *job], capture_output=True, text=True, check=True)
    return [float(cell) for cell in re.search(r"([\d.]+) s of kernels, ([\d.]+) s with transfers", ran.stderr).groups()]


def gpulab(command: list[str], folder: Path) -> Answer:
    product, _ = told(command, folder)
    kernels, beside = told(command, folder, "--closure")
    return {"gpulab kernels": kernels, "gpulab": beside, "one product": product}, np.load(folder / "gpulab.npy")


def scipy(edges: sparse.csr_array, method: str, name: str) -> Answer:
    began = time.perf_counter()
    found = shortest_path(edges, method=method)
    return {name: time.perf_counter() - began}, found


def rust(program: str, folder: Path, name: str) -> Answer:
    job = ["method", name, folder / "edges.csv", folder / "rust.f32"]
    ran = subprocess.run([program, *job], capture_output=True, text=True, check=True)
    found = np.fromfile(folder / "rust.f32", "<f4")
    n = round(len(found) ** 0.5)
    return {name: float(ran.stdout)}, found.reshape(n, n)


def least(methods: list, want: np.ndarray) -> dict[str, float]:
    times: dict[str, float] = {}
    spent = [0.0] * len(methods)
    for _ in range(ROUNDS):
        for i, method in enumerate(methods):
            if spent[i] > BUDGET_S:
                continue
            taken, found = method()
            assert np.array_equal(found, want), f"{list(taken)}: other distances"
            spent[i] += max(taken.values())
            times |= {what: min(seconds, times.get(what, seconds)) for what, seconds in taken.items()}
    return times


def main() -> None:
    program, *command = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["n", "edges", "density", "what", "seconds"])
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        for n in SIZES:
            for density in DENSITIES:
                edges = graph(n, max(2, round(density * n)))
                mmwrite(folder / "edges.mtx", edges)
                listed = edges.tocoo()
                rows = np.column_stack([listed.row, listed.col, listed.data.astype(int)])
                np.savetxt(folder / "edges.csv", rows, "%d", ",", header="from,to,weight", comments="")
                # The first run on a machine compiles the kernels.
                gpulab(command, folder)
                methods = [
                    lambda: gpulab(command, folder),
                    lambda: scipy(edges, "D", "SciPy Dijkstra"),
                    lambda: scipy(edges, "FW", "SciPy Floyd-Warshall"),
                    lambda: rust(program, folder, "rayon Dijkstra"),
                    lambda: rust(program, folder, "rayon Floyd-Warshall"),
                    lambda: rust(program, folder, "petgraph Dijkstra"),
                ]
                for what, seconds in least(methods, scipy(edges, "D", "")[1]).items():
                    out.writerow([n, edges.nnz, density, what, f"{seconds:.4f}"])
                sys.stdout.flush()


main()

#!/usr/bin/env python3
"""From which density on `gpulab minplus --closure` is faster than Dijkstra's algorithm on the CPU, from file to file.

scripts/peers/density.py PATH/dijkstra target/release/gpulab -d pocl > density.csv

gpulab reads a .mtx and SciPy a .npz of the same graph, and both write .npy; the program of scripts/peers/dijkstra reads a list of edges and writes nothing. The
methods take turns, and the least of each one's times counts. SciPy is spared Python's start. The answers are compared.
"""

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from scipy.io import mmwrite
from distances import graph, scipy

SIZES = [500, 1000, 2000]
DENSITIES = [0.005, 0.05, 0.5]
ROUNDS = 5


def gpulab(command: list[str], folder: Path) -> float:
    began = time.perf_counter()
    job = ["--closure", "--input", folder / "edges.mtx", "-o", folder / "gpulab.npy"]
    subprocess.run([command[0], "minplus", "-q", *command[1:], *job], check=True)
    return time.perf_counter() - began


def rayon(program: str, folder: Path) -> float:
    ran = subprocess.run([program, folder / "edges.csv", "0"], capture_output=True, text=True, check=True)
    return next(float(took) for what, took, _ in csv.reader(ran.stdout.splitlines()) if what == "rayon Dijkstra")


def main() -> None:
    program, *command = sys.argv[1:]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["n", "edges", "density", "what", "seconds"])
    for n in SIZES:
        for density in DENSITIES:
            with tempfile.TemporaryDirectory() as path:
                folder = Path(path)
                edges = graph(n, max(2, round(density * n)))
                sparse.save_npz(folder / "edges.npz", edges, compressed=False)
                mmwrite(folder / "edges.mtx", edges)
                listed = edges.tocoo()
                rows = np.column_stack([listed.row, listed.col, listed.data.astype(int)])
                np.savetxt(folder / "edges.csv", rows, "%d", ",", header="from,to,weight", comments="")
                methods = {
                    "gpulab": lambda: gpulab(command, folder),
                    "SciPy Dijkstra": lambda: scipy("D", folder),
                    "SciPy Floyd-Warshall": lambda: scipy("FW", folder),
                    "rayon Dijkstra": lambda: rayon(program, folder),
                }
                # The first run on a machine compiles the kernels.
                methods["gpulab"]()
                times = {what: [] for what in methods}
                for _ in range(ROUNDS):
                    for what, method in methods.items():
                        times[what].append(method())
                        if what.startswith("SciPy"):
                            same = np.allclose(np.load(folder / "gpulab.npy"), np.load(folder / "scipy.npy"), rtol=1e-5)
                            assert same, f"{what}: other distances"
                for what, seconds in times.items():
                    out.writerow([n, edges.nnz, density, what, f"{min(seconds):.4f}"])
                sys.stdout.flush()


main()

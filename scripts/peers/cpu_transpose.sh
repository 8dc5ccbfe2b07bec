#!/bin/sh
# The CPU's transposition beside a copy and BLAS libraries: OpenBLAS, and MKL where its Python package is installed.
# Usage: scripts/peers/cpu_transpose.sh [ROUNDS ["SIDES"]]
set -eu
cd "$(dirname "$0")/../.."
export GPULAB_ROUNDS="${1:-12}" GPULAB_SIDES="${2:-2048 4096 8192}"

cargo bench --quiet --bench cpu_transpose

mkl=$(python3 - <<'PY' 2>/dev/null || true
import importlib.metadata
files = importlib.metadata.files("mkl") or []
print(next(str(f.locate().resolve()) for f in files if f.name.startswith("libmkl_rt.so")))
PY
)
if [ -n "$mkl" ]; then
    MKL_THREADING_LAYER="${MKL_THREADING_LAYER:-GNU}" GPULAB_BLAS="$mkl" cargo bench --quiet --bench cpu_transpose
else
    echo "MKL: not found (pip install mkl)" >&2
fi

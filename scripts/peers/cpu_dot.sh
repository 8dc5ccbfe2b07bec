#!/bin/sh
# The CPU baseline of the dot product beside BLAS libraries: OpenBLAS, and MKL where its Python package is installed.
# Usage: scripts/peers/cpu_dot.sh [ROUNDS]
set -eu
cd "$(dirname "$0")/../.."
export GPULAB_ROUNDS="${1:-12}"

cargo bench --quiet --bench cpu_dot

mkl=$(python3 - <<'PY' 2>/dev/null || true
import importlib.metadata
files = importlib.metadata.files("mkl") or []
print(next(str(f.locate().resolve()) for f in files if f.name.startswith("libmkl_rt.so")))
PY
)
if [ -n "$mkl" ]; then
    GPULAB_BLAS="$mkl" cargo bench --quiet --bench cpu_dot
else
    echo "MKL: not found (pip install mkl)" >&2
fi

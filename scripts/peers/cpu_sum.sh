#!/bin/sh
# The CPU baseline of the f32 sum beside a plain OpenMP loop in C, in alternating rounds.
# Usage: scripts/peers/cpu_sum.sh [ROUNDS [N]]
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-5}
n=${2:-67108864}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"${CC:-cc}" -O3 -march=native -ffast-math -fopenmp -o "$folder/cpu_sum" scripts/peers/cpu_sum.c
cargo build --quiet --release
ours() {
    "${CARGO_TARGET_DIR:-target}/release/gpulab" reduce -q --dtype f32 --n "$n" --variant wide --min-time 1 --timeout 1 --json - |
        python3 -c 'import json, sys; print(next(r["t_median_s"] for r in json.load(sys.stdin) if r["variant"] == "cpu_rayon"))'
}
for round in $(seq "$rounds"); do
    peer=$("$folder/cpu_sum" "$n" 30)
    own=$(ours)
    awk -v round="$round" -v n="$n" -v peer="$peer" -v own="$own" \
        'BEGIN { printf "round %d: ours %.2f GB/s, OpenMP %.2f GB/s, ratio %.3f\n", round, 4 * n / own / 1e9, 4 * n / peer / 1e9, peer / own }'
done

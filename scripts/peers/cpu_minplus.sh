#!/bin/sh
# The CPU's f32 min-plus step beside the tropical-gemm crate, in one process, in alternating rounds: with one thread,
# and with all of them. tropical-gemm takes its fastest way: buffers that are there, and the processor's own target.
# Usage: scripts/peers/cpu_minplus.sh [ROUNDS ["SIDES"]]
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-7}
sides=${2:-1024 2048}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<TOML
[package]
name = "cpu_minplus"
version = "0.1.0"
edition = "2024"

[dependencies]
gpulab = { path = "$PWD" }
rayon = "1"
tropical-gemm = "*"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use gpulab::cpu::minplus;
use gpulab::data::{Array, Dtype, Fill, generate};
use std::time::Instant;
use tropical_gemm::{GemmWorkspace, TropicalGemm, TropicalMinPlus};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let (rounds, sides) = numbers.split_first().expect("rounds, sides");
    for &n in sides {
        for negative in [false, true] {
            compare(n, *rounds, negative);
        }
    }
}

fn compare(n: usize, rounds: usize, negative: bool) {
    let Array::F32(mut d) = generate(Fill::Real, Dtype::F32, 1, 0, 0, n * n) else { unreachable!() };
    if !negative {
        d.iter_mut().for_each(|x| *x = x.abs());
    }
    let array = Array::F32(d.clone());
    let mut ours = Array::zeros(Dtype::F32, n * n);
    let mut theirs = vec![TropicalMinPlus(f32::INFINITY); n * n];
    let mut workspace = GemmWorkspace::new();
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            let start = Instant::now();
            if side == 0 {
                minplus::all_threads(n, &array, &mut ours);
            } else {
                TropicalGemm::new(n, n, n).execute_with_workspace(&d, n, &d, n, &mut theirs, n, &mut workspace);
            }
            times[side].push(start.elapsed().as_secs_f64());
        }
        let Array::F32(ours) = &ours else { unreachable!() };
        assert!(ours.iter().zip(&theirs).all(|(x, y)| *x == y.0), "the two sides disagree");
    }
    let mut ratios: Vec<f64> = times[0].iter().zip(&times[1]).map(|(ours, theirs)| theirs / ours).collect();
    let rate = |times: &mut Vec<f64>| (n * n * n) as f64 / median(times) / 1e9;
    let [own, peer] = times.each_mut().map(rate);
    let (threads, kind) = (rayon::current_num_threads(), minplus::instructions(&array));
    print!("n {n}, {threads} threads, {kind}: ours {own:.2}, tropical-gemm {peer:.2} * 10^9 sums/s, ");
    println!("ratio {:.2} ({:.2} to {:.2})", median(&mut ratios), ratios[0], ratios[rounds - 1]);
}

fn median(values: &mut Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
RUST
export RUSTFLAGS="${RUSTFLAGS--C target-cpu=native}" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/peers"
cargo build --quiet --release --manifest-path "$folder/Cargo.toml"
# shellcheck disable=SC2086 # sides are words
RAYON_NUM_THREADS=1 "$CARGO_TARGET_DIR/release/cpu_minplus" "$rounds" $sides
# shellcheck disable=SC2086
"$CARGO_TARGET_DIR/release/cpu_minplus" "$rounds" $sides

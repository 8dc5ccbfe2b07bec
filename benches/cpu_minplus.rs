//! The CPU's min-plus steps beside what its registers allow, in one process, in alternating rounds.
//!
//! `cargo bench --bench cpu_minplus`; `GPULAB_ROUNDS` is the number of rounds, `GPULAB_SIDES` the matrices' sides,
//! `RAYON_NUM_THREADS` the number of threads. The program that `cargo bench --no-run --bench cpu_minplus` names needs
//! no other file: copied to a machine with other instructions, it measures there when started with `--bench`.

use gpulab::cpu::minplus::{self, BASELINES};
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use std::error::Error;
use std::io::{self, Write};
use std::slice::from_ref;
use std::time::Instant;

/// Who takes part, in the order of the columns: the baselines, and sums in registers.
const NAMES: [&str; 4] = ["cpu_sequential", "cpu_rows", "cpu_rayon", "in registers"];

/// The plain loops take too long for larger matrices.
const SEQUENTIAL_SIDE: usize = 1024;

/// Repetitions in registers: a tenth of a second or two.
const STEPS: usize = 1 << 22;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts this too; only `cargo bench` asks it to measure.
    if !std::env::args().any(|a| a == "--bench") {
        return Ok(());
    }
    let rounds = std::env::var("GPULAB_ROUNDS").map_or(Ok(9), |r| r.parse())?;
    let sides = std::env::var("GPULAB_SIDES").unwrap_or_else(|_| "1024 2048".into());
    let mut out = io::stdout().lock();
    writeln!(out, "10^9 sums a second, medians of {rounds} rounds, {} threads", rayon::current_num_threads())?;
    write!(out, "{:>6} {:>24}", "n", "instructions")?;
    NAMES.iter().try_for_each(|name| write!(out, " {name:>15}"))?;
    writeln!(out, "   cpu_rayon / in registers")?;
    for side in sides.split_whitespace() {
        let n = side.parse()?;
        let reals = |dtype| generate(Fill::Real, dtype, 1, 0, 0, n * n);
        let exact = |dtype| generate(Fill::Exact(255), dtype, 1, 0, 0, n * n);
        for d in [absolute(reals(Dtype::F32)), reals(Dtype::F32), exact(Dtype::I32), reals(Dtype::F64)] {
            let rates = compare(n, rounds, &d)?;
            write!(out, "{n:>6} {:>24}", minplus::instructions(&d))?;
            for rates in &rates {
                write!(
                    out,
                    " {:>15}",
                    if rates.is_empty() { "-".into() } else { format!("{:.2}", quantile(rates, 0.5)) }
                )?;
            }
            let shares: Vec<f64> = rates[2].iter().zip(&rates[3]).map(|(ours, limit)| ours / limit).collect();
            let [low, median, high] = [0.0, 0.5, 1.0].map(|q| quantile(&shares, q));
            writeln!(out, "   {median:.3} ({low:.3} to {high:.3})")?;
        }
    }
    Ok(())
}

/// The rates of every round in 10^9 sums a second, in the order of [`NAMES`].
fn compare(n: usize, rounds: usize, d: &Array) -> Result<[Vec<f64>; 4], Box<dyn Error>> {
    let mut result = Array::zeros(d.dtype(), n * n);
    minplus::all_threads(n, d, &mut result);
    let expected = result.clone();
    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..rounds {
        for turn in 0..NAMES.len() {
            let who = (round + turn) % NAMES.len();
            if who == 0 && (round > 0 || n > SEQUENTIAL_SIDE) {
                continue;
            }
            let start = Instant::now();
            let sums = match BASELINES.get(who) {
                Some(baseline) => {
                    let shape = Shape { n: n as u64, m: n as u64 };
                    (baseline.run)(shape, &Params::new(), from_ref(d), &mut result);
                    (n * n * n) as u64
                }
                None => minplus::in_registers(d, STEPS),
            };
            rates[who].push(sums as f64 / start.elapsed().as_secs_f64() / 1e9);
            if result != expected {
                return Err(format!("{} disagrees", NAMES[who]).into());
            }
        }
    }
    Ok(rates)
}

fn absolute(d: Array) -> Array {
    match d {
        Array::F32(v) => Array::F32(v.into_iter().map(f32::abs).collect()),
        other => other,
    }
}

fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len() as f64 - 1.0) * q) as usize).copied().unwrap_or(f64::NAN)
}

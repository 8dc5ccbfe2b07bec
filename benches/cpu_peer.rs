//! The baselines `cpu_rayon` as a program that answers cases, for `scripts/peers/run cpu`: `scripts/peers/peer.hpp` has the
//! words that it is asked in and answers with.
//!
//! `echo "dot f32 1000000 1 0.1" | cargo bench --bench cpu_peer`; `RAYON_NUM_THREADS` is the number of threads.

use gpulab::cpu::{Baseline, dot, minplus, reduce, transpose};
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Bytes that rotated copies have together, at least, where `PEERS_BYTES` names no other number, and the most copies:
/// gpulab's own rule.
const COPIES: (usize, usize) = (256 << 20, 256);

/// Fewest and most samples, and runs before the first.
const SAMPLES: (usize, usize) = (10, 1000);
const WARM_UP: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts this too; only `cargo bench` asks it to measure.
    if !std::env::args().any(|a| a == "--bench") {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "gpulab_cpu_rayon {}", env!("CARGO_PKG_VERSION"))?;
    out.flush()?;
    for line in io::stdin().lines() {
        match answer(&line?) {
            Ok(figures) => writeln!(out, "ok {figures} -")?,
            Err(why) => writeln!(out, "no {why}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// `sets runs median_s best_s` of a case, `work dtype n m sample_s`.
fn answer(line: &str) -> Result<String, Box<dyn Error>> {
    let [work, dtype, n, m, sample_s] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("{line:?} has not five words").into());
    };
    let shape = Shape {
        n: n.parse()?,
        m: m.parse()?,
    };
    let dtype = match dtype {
        "f32" => Dtype::F32,
        "i32" => Dtype::I32,
        _ => return Err(format!("{dtype}: not among what this peer does").into()),
    };
    let (baselines, inputs, is_matrix) = match work {
        "reduce" => (reduce::BASELINES, 1, false),
        "dot" => (dot::BASELINES, 2, false),
        "transpose" => (transpose::BASELINES, 1, true),
        "minplus" => (minplus::BASELINES, 1, true),
        _ => return Err(format!("{work}: not among what this peer does").into()),
    };
    // Weights are above 0, as its peers' are; sums of the others are exact.
    let fill = if work == "minplus" {
        Fill::Positive
    } else {
        Fill::Exact(8)
    };
    let problem = Problem {
        baselines,
        shape,
        dtype,
        inputs,
        is_matrix,
        fill,
    };
    problem.measure(Duration::from_secs_f64(sample_s.parse()?))
}

struct Problem {
    baselines: &'static [Baseline],
    shape: Shape,
    dtype: Dtype,
    inputs: u64,
    is_matrix: bool,
    fill: Fill,
}

impl Problem {
    /// Times calls over copies in turn, and holds the last result against a plainer baseline's.
    fn measure(&self, time: Duration) -> Result<String, Box<dyn Error>> {
        let elements = (self.shape.n * self.shape.m) as usize;
        let result = Array::zeros(self.dtype, if self.is_matrix { elements } else { 1 });
        let arrays = self.inputs as usize + usize::from(self.is_matrix);
        let wanted = std::env::var("PEERS_BYTES").map_or(Ok(COPIES.0), |said| said.parse())?;
        let sets = wanted
            .div_ceil(arrays * elements * self.dtype.size())
            .clamp(2, COPIES.1);
        let made = || {
            (0..self.inputs)
                .map(|i| generate(self.fill, self.dtype, 1, i, 0, elements))
                .collect()
        };
        let mut copies: Vec<(Vec<Array>, Array)> =
            (0..sets).map(|_| (made(), result.clone())).collect();
        let [plain, .., fast] = self.baselines else {
            return Err("no baselines".into());
        };
        let params = Params::new();
        let mut times = Vec::new();
        let mut once = |run: usize| {
            let (inputs, output) = &mut copies[run % sets];
            let started = Instant::now();
            (fast.run)(self.shape, &params, black_box(inputs), output);
            started.elapsed().as_secs_f64()
        };
        (0..WARM_UP).for_each(|run| {
            once(run);
        });
        let began = Instant::now();
        while times.len() < SAMPLES.0 || (times.len() < SAMPLES.1 && began.elapsed() < time) {
            times.push(once(WARM_UP + times.len()));
        }
        let (inputs, output) = &copies[0];
        let mut want = result.clone();
        (plain.run)(self.shape, &params, inputs, &mut want);
        if *output != want {
            return Err("WRONG: another result than the plain baseline's".into());
        }
        times.sort_by(f64::total_cmp);
        let median = f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2]);
        Ok(format!(
            "{sets} {} {median:.5e} {:.5e}",
            times.len(),
            times[0]
        ))
    }
}

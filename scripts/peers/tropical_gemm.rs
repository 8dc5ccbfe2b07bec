//! The crate tropical-gemm as a program that answers cases `minplus f32`, asked as `peer.hpp` says. `run` builds it.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use tropical_gemm::{GemmWorkspace, TropicalGemm, TropicalMinPlus};

/// Bytes that rotated copies have together, at least, where PEERS_BYTES names no other number, and the most copies; samples,
/// fewest and most; runs before the first.
const COPIES: (usize, usize) = (256 << 20, 256);
const SAMPLES: (usize, usize) = (10, 1000);
const WARM_UP: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    println!("tropical_gemm {}", option_env!("TROPICAL_GEMM").unwrap_or("of crates.io"));
    for line in io::stdin().lines() {
        match answer(&line?) {
            Ok(figures) => println!("ok {figures} -"),
            Err(why) => println!("no {why}"),
        }
        io::stdout().flush()?;
    }
    Ok(())
}

/// `sets runs median_s best_s` of a case, `minplus f32 n n sample_s`.
fn answer(line: &str) -> Result<String, Box<dyn Error>> {
    let ["minplus", "f32", n, m, sample_s] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("{line:?}: not among what this peer does").into());
    };
    if n != m {
        return Err("no square matrix".into());
    }
    measure(n.parse()?, Duration::from_secs_f64(sample_s.parse()?))
}

/// Times calls over copies in turn, each into a result and with a workspace that are there, and checks the last result.
fn measure(n: usize, time: Duration) -> Result<String, Box<dyn Error>> {
    let wanted = std::env::var("PEERS_BYTES").map_or(Ok(COPIES.0), |said| said.parse())?;
    let sets = wanted.div_ceil(2 * 4 * n * n).clamp(2, COPIES.1);
    let inputs: Vec<f32> = (0..n * n).map(made).collect();
    let mut copies = vec![(inputs, vec![TropicalMinPlus(f32::NAN); n * n]); sets];
    let (mut workspace, mut times, mut last) = (GemmWorkspace::new(), Vec::new(), 0);
    let began = Instant::now();
    let mut run = 0;
    while times.len() < SAMPLES.0 || (times.len() < SAMPLES.1 && began.elapsed() < time) {
        last = run % sets;
        let (d, result) = &mut copies[last];
        let started = Instant::now();
        TropicalGemm::new(n, n, n).execute_with_workspace(black_box(&*d), n, &*d, n, result, n, &mut workspace);
        if run >= WARM_UP {
            times.push(started.elapsed().as_secs_f64());
        }
        run += 1;
    }
    let (d, result) = &copies[last];
    for at in (0..n * n).step_by((n * n / 1000).max(1) | 1) {
        let (i, j) = (at / n, at % n);
        let least = (0..n).map(|k| d[i * n + k] + d[k * n + j]).fold(f32::INFINITY, f32::min);
        if result[at].0 != least {
            return Err("WRONG: min-plus product".into());
        }
    }
    times.sort_by(f64::total_cmp);
    let median = f64::midpoint(times[(times.len() - 1) / 2], times[times.len() / 2]);
    Ok(format!("{sets} {} {median:.5e} {:.5e}", times.len(), times[0]))
}

/// As `peer.hpp`'s `make`: from 0.5 to 1.5.
fn made(i: usize) -> f32 {
    let mut h = (i as u32).wrapping_mul(2_654_435_761) ^ 1;
    h = (h ^ (h >> 16)).wrapping_mul(2_246_822_519);
    h = (h ^ (h >> 13)).wrapping_mul(3_266_489_917);
    (h >> 8) as f32 / 16_777_216.0 + 0.5
}

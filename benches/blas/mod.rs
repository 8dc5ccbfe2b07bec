//! The library that a baseline is measured beside, and bursts of calls of either.

use libloading::Library;
use std::error::Error;
use std::time::{Duration, Instant};

/// Longer than the 0.2 s that Intel's OpenMP spins by default, and than OpenBLAS's few hundredths.
const PAUSE: Duration = Duration::from_millis(250);

/// The BLAS that `GPULAB_BLAS` names, or OpenBLAS, and how many rounds `GPULAB_ROUNDS` asks for.
#[allow(unsafe_code, reason = "loading a C library")]
pub fn peer() -> Result<(String, Library, usize), Box<dyn Error>> {
    let name = std::env::var("GPULAB_BLAS").unwrap_or_else(|_| "libopenblas.so.0".into());
    let rounds = std::env::var("GPULAB_ROUNDS").map_or(Ok(12), |r| r.parse())?;
    // SAFETY: a BLAS runs no initialisers but its own, which only read the environment and start threads.
    let library = unsafe { Library::new(&name) };
    let library = library.map_err(|e| format!("{e}: install libopenblas-dev or set GPULAB_BLAS"))?;
    Ok((name, library, rounds))
}

/// Seconds of each of some calls after a pause and a few that are not timed.
pub fn burst<T>(calls: usize, mut run: impl FnMut() -> T) -> Vec<f64> {
    std::thread::sleep(PAUSE);
    for _ in 0..calls.div_ceil(8) {
        std::hint::black_box(run());
    }
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed().as_secs_f64()
    };
    (0..calls).map(time).collect()
}

pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

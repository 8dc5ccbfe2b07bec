//! The f32 dot product of `cpu_rayon` beside that of a BLAS, in one process, in alternating rounds.
//!
//! `cargo bench --bench cpu_dot` takes OpenBLAS from the system; `GPULAB_BLAS=/path/to/libmkl_rt.so` another library
//! with `cblas_sdot`. `GPULAB_ROUNDS` is the number of rounds. The BLAS chooses its own number of threads.
//!
//! A BLAS's threads spin for a while after a call and would take the cores from the other side. So each side runs a
//! burst of calls after a pause that outlasts the spinning, and the sides take turns in going first.

mod blas;

use blas::{burst, median};
use gpulab::cpu::dot::BASELINES;
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use libloading::Library;
use std::error::Error;
use std::io::{self, Write};

/// `float cblas_sdot(blasint n, const float *x, blasint incx, const float *y, blasint incy)`, with 32-bit `blasint`.
type Sdot = unsafe extern "C" fn(i32, *const f32, i32, *const f32, i32) -> f32;

const SIZES: [usize; 3] = [1 << 20, 1 << 24, 1 << 26];

/// Elements that a burst reads from each vector, so that short calls are timed more often.
const BURST: usize = 1 << 28;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts this too; only `cargo bench` asks it to measure.
    if !std::env::args().any(|a| a == "--bench") {
        return Ok(());
    }
    let (name, library, rounds) = blas::peer()?;
    let sdot = find_sdot(&library)?;
    let mut out = io::stdout().lock();
    writeln!(out, "f32 dot, {} rayon threads, {rounds} rounds, peer {name}", rayon::current_num_threads())?;
    writeln!(
        out,
        "{:>10} {:>12} {:>12} {:>11} {:>11} {:>7}",
        "n", "ours us", "peer us", "ours GB/s", "peer GB/s", "ratio"
    )?;
    for n in SIZES {
        let [ours, peer] = compare(n, rounds, sdot)?;
        let gbps = |t: f64| 8.0 * n as f64 / t / 1e9;
        let ratio = peer / ours;
        let (us, peer_us) = (ours * 1e6, peer * 1e6);
        writeln!(out, "{n:>10} {us:>12.1} {peer_us:>12.1} {:>11.2} {:>11.2} {ratio:>7.3}", gbps(ours), gbps(peer))?;
    }
    Ok(())
}

/// Median times of one call in seconds: ours, then the peer's.
fn compare(n: usize, rounds: usize, sdot: Sdot) -> Result<[f64; 2], Box<dyn Error>> {
    let inputs = [0, 1].map(|stream| generate(Fill::Exact(8), Dtype::F32, 1, stream, 0, n));
    let ours = BASELINES.iter().find(|b| b.name == "cpu_rayon").ok_or("no baseline cpu_rayon")?.run;
    let run_ours = || {
        let mut result = Array::zeros(Dtype::F32, 1);
        ours(Shape::vector(n as u64), &Params::new(), &inputs, &mut result);
        first(&result)
    };
    let run_peer = || call(sdot, &inputs);
    // The data's sums are exact in any order.
    if run_ours() != run_peer() {
        return Err("the two sides disagree".into());
    }
    let calls = (BURST / n).max(5);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            times[side].extend(if side == 0 { burst(calls, run_ours) } else { burst(calls, run_peer) });
        }
    }
    Ok(times.map(median))
}

fn first(result: &Array) -> f32 {
    match result {
        Array::F32(v) => v[0],
        _ => f32::NAN,
    }
}

#[allow(unsafe_code, reason = "calling a C library")]
fn find_sdot(library: &Library) -> Result<Sdot, Box<dyn Error>> {
    // SAFETY: the type is that of the C interface; `main` keeps the library open while the pointer lives.
    Ok(*unsafe { library.get::<Sdot>(b"cblas_sdot\0") }?)
}

#[allow(unsafe_code, reason = "calling a C library")]
fn call(sdot: Sdot, inputs: &[Array; 2]) -> f32 {
    let [Array::F32(x), Array::F32(y)] = inputs else { return f32::NAN };
    let Ok(n) = i32::try_from(x.len().min(y.len())) else { return f32::NAN };
    // SAFETY: both vectors hold n elements with stride 1.
    unsafe { sdot(n, x.as_ptr(), 1, y.as_ptr(), 1) }
}

//! The f32 transposition of all threads beside that of a BLAS and beside a copy, in one process, in alternating rounds.
//!
//! `cargo bench --bench cpu_transpose` takes OpenBLAS from the system; `GPULAB_BLAS=/path/to/libmkl_rt.so` MKL. Both
//! choose their own number of threads. `GPULAB_ROUNDS` is the number of rounds, `GPULAB_SIDES` the matrices' sides.
//!
//! Each side of the comparison writes the same output, whose pages are there. A BLAS's threads spin for a while after a
//! call and would take the cores from the others. So each runs a burst of calls after a pause that outlasts the
//! spinning, and they take turns in going first.

mod blas;

use blas::{burst, median};
use gpulab::cpu::transpose;
use gpulab::data::{Array, Dtype, Fill, Params, Shape, generate};
use libloading::{Library, Symbol};
use std::error::Error;
use std::ffi::c_char;
use std::io::{self, Write};

/// `cblas_somatcopy(order, trans, rows, cols, alpha, a, lda, b, ldb)` of OpenBLAS, with 32-bit `blasint`.
type Cblas = unsafe extern "C" fn(i32, i32, i32, i32, f32, *const f32, i32, *mut f32, i32);

/// `MKL_Somatcopy(ordering, trans, rows, cols, alpha, a, lda, b, ldb)` of MKL.
type Mkl = unsafe extern "C" fn(c_char, c_char, usize, usize, f32, *const f32, usize, *mut f32, usize);

/// Elements that a burst moves, so that short calls are timed more often.
const BURST: usize = 1 << 27;

/// Who takes part, in the order of the columns.
const NAMES: [&str; 4] = ["ours", "copy", "peer", "plain loop"];

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts this too; only `cargo bench` asks it to measure.
    if !std::env::args().any(|a| a == "--bench") {
        return Ok(());
    }
    let (name, library, rounds) = blas::peer()?;
    let sides = std::env::var("GPULAB_SIDES").unwrap_or_else(|_| "2048 4096 8192".into());
    let mut out = io::stdout().lock();
    writeln!(out, "f32 transposition, {} rayon threads, {rounds} rounds, peer {name}", rayon::current_num_threads())?;
    write!(out, "{:>7}", "side")?;
    NAMES.iter().try_for_each(|name| write!(out, " {:>15}", format!("{name} GB/s")))?;
    writeln!(out, " {:>10} {:>10}", "ours/peer", "ours/copy")?;
    for side in sides.split_whitespace() {
        let side = side.parse()?;
        let times = compare(side, rounds, &library)?;
        write!(out, "{side:>7}")?;
        times.iter().try_for_each(|t| write!(out, " {:>15.2}", 8.0 * (side * side) as f64 / t / 1e9))?;
        writeln!(out, " {:>10.3} {:>10.3}", times[2] / times[0], times[1] / times[0])?;
    }
    Ok(())
}

/// Median times of one call in seconds, in the order of [`NAMES`].
fn compare(side: usize, rounds: usize, library: &Library) -> Result<[f64; 4], Box<dyn Error>> {
    let input = generate(Fill::Real, Dtype::F32, 1, 0, 0, side * side);
    let mut output = Array::zeros(Dtype::F32, side * side);
    let peer = Peer::find(library)?;
    let mut expected = output.clone();
    let square = transpose::movement(Shape { n: side as u64, m: side as u64 }, &Params::new());
    square.carry_out(&input, &mut expected);
    let calls = (BURST / (side * side)).max(3);
    let mut times: [Vec<f64>; 4] = Default::default();
    for round in 0..rounds {
        for turn in 0..NAMES.len() {
            let who = (round + turn) % NAMES.len();
            let burst = burst(if who == 3 { 1 } else { calls }, || match who {
                0 => transpose::all_threads(&input, &square, &mut output),
                1 => transpose::copy(&input, &mut output),
                2 => peer.call(&input, side, &mut output),
                _ => square.carry_out(&input, &mut output),
            });
            if output != *(if who == 1 { &input } else { &expected }) {
                return Err(format!("{} is wrong", NAMES[who]).into());
            }
            times[who].extend(burst);
        }
    }
    Ok(times.map(median))
}

enum Peer<'a> {
    Cblas(Symbol<'a, Cblas>),
    Mkl(Symbol<'a, Mkl>),
}

impl Peer<'_> {
    #[allow(unsafe_code, reason = "calling a C library")]
    fn find(library: &Library) -> Result<Peer<'_>, Box<dyn Error>> {
        // SAFETY: the types are those of the C interfaces.
        unsafe {
            match library.get(b"MKL_Somatcopy\0") {
                Ok(mkl) => Ok(Peer::Mkl(mkl)),
                Err(_) => Ok(Peer::Cblas(library.get(b"cblas_somatcopy\0")?)),
            }
        }
    }

    #[allow(unsafe_code, reason = "calling a C library")]
    fn call(&self, input: &Array, side: usize, output: &mut Array) {
        /// `CblasRowMajor` and `CblasTrans`.
        const ROW_MAJOR: i32 = 101;
        const TRANSPOSED: i32 = 112;
        let (Array::F32(a), Array::F32(b)) = (input, output) else { return };
        let Ok(n) = i32::try_from(side) else { return };
        assert!(a.len() >= side * side && b.len() >= side * side);
        let (a, b) = (a.as_ptr(), b.as_mut_ptr());
        // SAFETY: both matrices hold n rows of n elements.
        unsafe {
            match self {
                Peer::Cblas(f) => f(ROW_MAJOR, TRANSPOSED, n, n, 1.0, a, n, b, n),
                Peer::Mkl(f) => f(b'R' as c_char, b'T' as c_char, side, side, 1.0, a, side, b, side),
            }
        }
    }
}

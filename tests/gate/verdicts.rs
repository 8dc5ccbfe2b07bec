//! How often `gpulab compare` is wrong, and what it finds: many runs of the same ladders, by themselves and beside a load.

use crate::{Options, Report};
use gpulab::compare::{CurvePoint, Turns, curve};
use gpulab::report::compare::SAME;
use gpulab::store::{Recorded, recorded};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The ladders that are measured.
const LADDERS: [&str; 3] = ["dot --n 2^20", "reduce --n 2^20", "transpose --n 1024"];

/// Runs of each side.
const SIDES: [usize; 6] = [1, 2, 3, 6, 12, 20];

/// Slowdowns that are planted.
const SLOWDOWNS: [f64; 4] = [0.03, 0.05, 0.1, 0.3];

/// Most comparisons of sides that are alike that may be called, as a share.
const MOST_CALLED: f64 = 0.01;

/// Fewest such comparisons.
const FEWEST: usize = 1000;

/// Measures the rounds, prints the curves, and holds them against what is promised.
pub fn run(options: &Options) -> Result<Report, String> {
    let rounds = if options.quick { 14 } else { 60 };
    let (mut alike, mut called, mut worst) = (0, 0, 0.0f64);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for is_loaded in [false, true] {
        let name = if is_loaded { "beside a load" } else { "alone" };
        if options.only.as_deref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let file = folder.join(format!("{}.csv", name.replace(' ', "-")));
        let points = beside(is_loaded, || measure(&file, rounds))??;
        println!("{name}, {rounds} rounds: {}", file.display());
        for CurvePoint { runs, turns, alike: tried, called: wrong, found, missed_badly } in &points {
            let turns = if *turns == Turns::InTurn { "in turn" } else { "one after the other" };
            println!(
                "  {runs:2} runs {turns:19}  {wrong:3} of {tried} called; found {found:?}; {missed_badly} the other way"
            );
            worst = worst.max(*wrong as f64 / *tried as f64);
        }
        alike += points.iter().map(|point| point.alike).sum::<usize>();
        called += points.iter().map(|point| point.called).sum::<usize>();
    }
    let figure = format!("{called} of {alike} comparisons of the same program called, {:.2} % at worst", 100.0 * worst);
    Ok(Report { passed: worst <= MOST_CALLED && (options.quick || alike >= FEWEST), figure })
}

/// Measures each ladder in so many rounds into one file of rows; the curve of all of them.
fn measure(file: &Path, rounds: usize) -> Result<Vec<CurvePoint>, String> {
    let mut rows = Vec::new();
    for ladder in LADDERS {
        let part = file.with_extension("part.csv");
        let rounds = rounds.to_string();
        let args = ladder.split(' ').chain(["--quick", "--no-tuned", "-q", "--rounds", &rounds, "--csv"]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
        let status = command.args(args).arg(&part).stdout(Stdio::null()).status().map_err(|e| e.to_string())?;
        let text = std::fs::read(&part).map_err(|e| format!("{}: {e} ({status})", part.display()))?;
        std::fs::remove_file(&part).map_err(|e| e.to_string())?;
        match recorded(&text, ladder).map_err(|e| e.to_string())? {
            (Recorded::Rows(own), _) => rows.extend(own),
            _ => return Err(format!("{ladder} wrote no rows")),
        }
    }
    gpulab::store::write_rows(&file.display().to_string(), &rows).map_err(|e| e.to_string())?;
    Ok(curve(&rows, &SIDES, &SLOWDOWNS, SAME))
}

/// Does it beside threads that compute and rest for times that nobody can tell beforehand, or by itself.
fn beside<T>(is_loaded: bool, work: impl FnOnce() -> T) -> Result<T, String> {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if is_loaded {
            let threads = std::thread::available_parallelism().map_err(|e| e.to_string())?.get();
            for thread in 0..threads as u64 {
                let ended = &ended;
                scope.spawn(move || load(thread, ended));
            }
        }
        let done = work();
        ended.store(true, Ordering::Relaxed);
        Ok(done)
    })
}

/// Walks through 64 MiB again and again, in spells of up to 3 s.
fn load(thread: u64, ended: &AtomicBool) {
    let mut memory = vec![1u64; 8 << 20];
    for spell in 0.. {
        let seconds = (gpulab::data::draw(thread, spell) % 3000) as f64 / 1000.0;
        let began = Instant::now();
        while began.elapsed().as_secs_f64() < seconds && !ended.load(Ordering::Relaxed) {
            match spell % 2 {
                0 => memory.iter_mut().for_each(|word| *word = word.wrapping_mul(3)),
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        if ended.load(Ordering::Relaxed) {
            return;
        }
    }
}

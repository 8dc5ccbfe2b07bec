//! How often `gpulab compare` is wrong, and what it finds: many runs of the same ladders, by themselves and beside a load.

use crate::{Options, Report};
use gpulab::compare::{RatioInterval, SpeedVerdict, found_from, spread, timed};
use gpulab::record::Row;
use gpulab::report::compare::SAME;
use gpulab::store::{Recorded, recorded, write_rows};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The ladders that are measured, and their rungs.
const LADDERS: [(&str, &str); 2] = [("dot", "naive,wide"), ("reduce", "raking,wide")];

/// Their numbers of elements, run by run in turn.
const SIZES: [u64; 2] = [1 << 20, 1_153_434];

/// Most comparisons of alike sides that may be called, as a share. Comparisons that share runs count as one: of 240 rounds a case
/// has 20 of six runs a side, but one of eighty.
const MOST_CALLED: f64 = 0.01;

/// Least share of comparisons in turn that find the slowdown which so many runs are said to find.
const LEAST_FOUND: f64 = 0.95;

/// Runs of each side that are tried.
const SIDES: [usize; 6] = [6, 12, 20, 40, 80, 120];

/// Fewest comparisons of sides that are alike with runs enough for a verdict.
const FEWEST_ALIKE: usize = 1000;

/// Measures the rounds, prints the curves, and holds them against what is promised.
pub fn run(options: &Options) -> Result<Report, String> {
    let (mut alike, mut called, mut worst, mut least_found) = (0, 0, 0.0f64, 1.0f64);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, is_loaded, rounds) in [("alone", false, 240), ("beside a load", true, 60)] {
        let rounds = if options.quick { 14 } else { rounds };
        if options
            .only
            .as_deref()
            .is_some_and(|only| !name.contains(only))
        {
            continue;
        }
        let file = folder.join(format!("{}.csv", name.replace(' ', "-")));
        let rows = beside(is_loaded, || measure(rounds))??;
        write_rows(&file.display().to_string(), &rows).map_err(|e| e.to_string())?;
        println!("{name}, {rounds} rounds: {}", file.display());
        let cases: Vec<(&Row, Vec<f64>)> = timed(&rows)
            .into_iter()
            .map(|runs| {
                (
                    runs[0],
                    runs.iter().filter_map(|row| row.t_median_s).collect(),
                )
            })
            .collect();
        let (mut apart, mut called_apart) = (0.0, 0.0);
        let (mut found, mut tried) = (0, 0);
        for (runs, in_turn) in SIDES
            .into_iter()
            .flat_map(|runs| [(runs, true), (runs, false)])
        {
            let (mut own, mut own_called) = (0, 0);
            for (_, seconds) in &cases {
                let verdicts = verdicts(seconds, runs, in_turn, 0.0);
                own += verdicts.len();
                own_called += verdicts
                    .iter()
                    .filter(|v| matches!(v, SpeedVerdict::Slower | SpeedVerdict::Faster))
                    .count();
                // What so many runs find by what they differ by.
                let share = spread([seconds, &[]]).and_then(|spread| found_from(spread, runs));
                if let (Some(share), true) = (share, in_turn) {
                    let slowed = self::verdicts(seconds, runs, in_turn, share.max(2.0 * SAME));
                    tried += slowed.len();
                    found += slowed
                        .iter()
                        .filter(|verdict| **verdict == SpeedVerdict::Slower)
                        .count();
                }
            }
            if own > 0 {
                let whole = (rounds / (2 * runs)) as f64;
                apart += whole;
                called_apart += whole * own_called as f64 / own as f64;
                println!(
                    "  {runs:3} runs of each side, in turn: {in_turn}: {own_called} of {own} called"
                );
            }
            (alike, called) = (alike + own, called + own_called);
        }
        worst = worst.max(called_apart / apart);
        println!("  {found} of {tried} comparisons find what so many runs are said to find");
        least_found = least_found.min(found as f64 / tried as f64);
    }
    if alike == 0 {
        return Err("no comparison was made".into());
    }
    let figure = format!(
        "{called} of {alike} comparisons of the same program called, {:.2} % at worst, if those that share runs count as one; what \
         so many runs are said to find is found in {:.1} % at least",
        100.0 * worst,
        100.0 * least_found
    );
    let passed = worst <= MOST_CALLED
        && (options.quick || alike >= FEWEST_ALIKE)
        && least_found >= LEAST_FOUND;
    Ok(Report { passed, figure })
}

/// Measures each ladder in so many rounds at each size, each time in a process of its own.
fn measure(rounds: usize) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (ladder, rungs) in LADDERS {
        for size in (0..rounds).flat_map(|_| SIZES) {
            let n = size.to_string();
            let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
            command.args([
                ladder,
                "--variant",
                rungs,
                "--n",
                &n,
                "--quick",
                "--no-tuned",
                "-q",
                "--csv",
                "-",
            ]);
            let output = command
                .stderr(Stdio::null())
                .output()
                .map_err(|e| e.to_string())?;
            match recorded(&output.stdout, ladder).map_err(|e| e.to_string())? {
                (Recorded::Rows(own), _) => rows.extend(own),
                _ => return Err(format!("{ladder} wrote no rows ({})", output.status)),
            }
        }
    }
    rows.retain(|row| !row.on_host());
    Ok(rows)
}

/// What is said of sides of so many successive runs each, where all times of the second side are longer by a share.
fn verdicts(seconds: &[f64], runs: usize, in_turn: bool, slowdown: f64) -> Vec<SpeedVerdict> {
    let is_second = |at: usize| {
        if in_turn {
            (at + at / 2) % 2 == 1
        } else {
            at >= runs
        }
    };
    let verdict = |window: &[f64]| {
        let side = |second: bool| -> Vec<f64> {
            let factor = if second { 1.0 + slowdown } else { 1.0 };
            let own = window
                .iter()
                .enumerate()
                .filter(|(at, _)| is_second(*at) == second);
            own.map(|(_, seconds)| factor * seconds).collect()
        };
        let interval = RatioInterval::of_runs(&side(false), &side(true), in_turn);
        interval.map_or(SpeedVerdict::Undecided, |interval| {
            SpeedVerdict::of(&interval, SAME)
        })
    };
    seconds.windows(2 * runs).map(verdict).collect()
}

/// Does it beside threads that compute and rest for times that nobody can tell beforehand, or by itself.
fn beside<T>(is_loaded: bool, work: impl FnOnce() -> T) -> Result<T, String> {
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if is_loaded {
            let threads = std::thread::available_parallelism()
                .map_err(|e| e.to_string())?
                .get();
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
                0 => memory
                    .iter_mut()
                    .for_each(|word| *word = word.wrapping_mul(3)),
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        if ended.load(Ordering::Relaxed) {
            return;
        }
    }
}

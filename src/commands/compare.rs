//! `gpulab compare`: recorded runs held against each other, or a kernel against itself.

use crate::bench::{self, Input};
use crate::brought::Brought;
use crate::cli::{Compare, Global};
use crate::commands::show::records::runs_of;
use crate::compare::{ComparisonRow, FileComparison, RatioInterval, compare, in_pairs, steps};
use crate::console::{print, screen};
use crate::data::Params;
use crate::kernels::Rung;
use crate::outcome::{Executor, Settings};
use crate::outputs::{Outputs, Paths, TextOrJson};
use crate::plan::Case;
use crate::record::{Row, Run, Scene};
use crate::report::progress::StatusLine;
use crate::report::verdict::Verdict;
use crate::runner::PairJob;
use crate::terminal::say;
use crate::worker::WorkerProcess;
use crate::{Error, Result, interrupt, report, usage_error, values};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Compares each file with the first, and says what the steps of ladders bring where several devices are in the files.
pub fn run(global: &Global, options: &Compare) -> Result<()> {
    if let Some(kernel) = &options.noise {
        return noise(global, kernel);
    }
    match (&options.curve, &options.run[..]) {
        (Some(kernel), []) => return kernel_curve(global, options, kernel),
        (Some(_), [command]) => return program_curve(global, options, command),
        (None, [old, new]) => return programs(global, options, [old, new]),
        (Some(_), _) => {
            return usage_error("--curve: --run takes one command, which is both sides");
        }
        (None, [_]) => {
            return usage_error("--run takes two commands, the old one first; or one with --curve");
        }
        (None, _) => {}
    }
    let mut outputs = Outputs::open(&Paths::from(&options.rows))?;
    let sides = options
        .files
        .iter()
        .map(|names| runs_of(names, global.quiet))
        .collect::<Result<Vec<_>>>()?;
    let Some((first, others)) = sides.split_first() else {
        return Ok(());
    };
    let ladders = steps(sides.iter().flatten());
    let comparisons: Vec<FileComparison<'_>> = others
        .iter()
        .map(|rows| compare(first, rows, options.same))
        .collect();
    // Nothing to hold against a limit is no success.
    let is_due = !options.fail_on.is_empty() || ladders.is_empty();
    if is_due
        && comparisons
            .iter()
            .all(|comparison| comparison.pairs.is_empty())
    {
        let why = "the files share no case: both need times of the same rungs, types and sizes by the same clock";
        return usage_error(why);
    }
    for (comparison, name) in comparisons.iter().zip(options.files.iter().skip(1)) {
        let names = [options.files[0].as_str(), name];
        comparison
            .pairs
            .iter()
            .for_each(|case| outputs.row(&ComparisonRow::new(names, case)));
        outputs.tell(global, &|screen| {
            report::compare::text(comparison, names, options.same, global.verbose, screen)
        });
    }
    if !ladders.is_empty() {
        outputs.tell(global, &|screen| {
            format!("\n{}", report::compare::steps(&ladders, screen))
        });
    }
    outputs.finish(true, true)?;
    comparisons
        .iter()
        .try_for_each(|comparison| comparison.demand(&options.fail_on))
}

/// Seconds for two programs, or for a kernel and itself, unless a budget is given.
const PROGRAMS_S: f64 = 60.0;
const CURVE_S: f64 = 20.0;

/// Runs two programs in turn until their times decide.
fn programs(global: &Global, options: &Compare, commands: [&String; 2]) -> Result<()> {
    let output = TextOrJson::open(options.rows.json.as_deref())?;
    let [old, new] = commands;
    let mut verdict = Verdict::new("compare", new);
    verdict.reference = Some(old.clone());
    let limit = options.budget.unwrap_or(PROGRAMS_S);
    let pairs = program_pairs(global, commands, (options.same, limit))?;
    let Some(interval) = RatioInterval::of_pairs(&pairs) else {
        return usage_error(format!(
            "{} pairs of runs are too few for a verdict: give them a larger --budget",
            pairs.len()
        ));
    };
    verdict.decide(interval, options.same);
    verdict.exit_code = verdict.verdict.exit_code();
    let screen = screen(global.color);
    let text = report::against::text(&verdict, &pairs, None, options.same, screen);
    output.conclude(&verdict, text)
}

/// Seconds from the start to the end of two programs, in pairs.
fn program_pairs(
    global: &Global,
    commands: [&String; 2],
    limit: (f64, f64),
) -> Result<Vec<[f64; 2]>> {
    interrupt::watch();
    let mut observer = StatusLine::new(global.quiet);
    let mut runs = 0;
    let limit = (limit.0, Duration::from_secs_f64(limit.1));
    in_pairs(limit, u64::from(std::process::id()), &mut |side| {
        bench::go_on()?;
        observer.case_started(runs, runs + 2, commands[side]);
        runs += 1;
        let began = Instant::now();
        let ended = Command::new("sh")
            .args(["-c", commands[side]])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        let seconds = began.elapsed().as_secs_f64();
        match ended {
            Ok(status) if status.success() => Ok(seconds),
            Ok(status) => Err(Error::Failed(format!(
                "--run {:?} ended with {status}",
                commands[side]
            ))),
            Err(error) => Err(Error::Failed(format!("--run: sh does not start: {error}"))),
        }
    })
}

/// Measures a program in pairs with itself, and says which differences would have been found.
fn program_curve(global: &Global, options: &Compare, command: &String) -> Result<()> {
    // Nothing is the same within nothing, so that all the time is used.
    let limit = (0.0, options.budget.unwrap_or(PROGRAMS_S));
    let began = Instant::now();
    let pairs = program_pairs(global, [command, command], limit)?;
    let each = began.elapsed().as_secs_f64() / pairs.len() as f64;
    print(&report::compare::curve(
        command,
        &pairs,
        each,
        options.same,
        screen(global.color),
    ))
}

/// As [`program_curve`], of a kernel.
fn kernel_curve(global: &Global, options: &Compare, kernel: &str) -> Result<()> {
    let (brought, rung) = rung_of("--curve", kernel)?;
    let family = &brought.family;
    let dtype = bench::dtype(family, None)?;
    interrupt::watch();
    let setup = global.setup(None, &brought.registry);
    let mut worker = WorkerProcess::open(setup, None, bench::LOOK, interrupt::interrupted, say)?;
    bench::announce(global, worker.info());
    let is_slow = worker.info().kind == "cpu";
    let shape = family.form.shape(family.form.ladder_size(is_slow), None);
    let case = Case {
        wg: bench::default_work_group(worker.info()),
        ..Case::of(&family.name, rung.variant(), dtype, shape)
    };
    let job = PairJob {
        cases: [case.clone(), case.clone()],
        same: 0.0,
        limit: options.budget.unwrap_or(CURVE_S),
    };
    let began = Instant::now();
    let pairs = worker
        .pair(&job)?
        .map_err(|stop| bench::stopped(&case, stop))?;
    let each = began.elapsed().as_secs_f64().min(job.limit) / pairs.len() as f64;
    let name = format!(
        "{kernel} on {}",
        report::format::device(&worker.info().name)
    );
    print(&report::compare::curve(
        &name,
        &pairs,
        each,
        options.same,
        screen(global.color),
    ))
}

/// The one rung that an option names.
fn rung_of(option: &str, kernel: &str) -> Result<(Brought, Rung)> {
    let wanted = || {
        Error::Usage(format!(
            "{option} {kernel}: name a family and one rung, as in reduce:4"
        ))
    };
    let (family, variant) = kernel.rsplit_once(':').ok_or_else(wanted)?;
    let brought = Brought::new(family)?;
    let rungs = values::variants(&brought.family, variant).map_err(Error::Usage)?;
    let [rung] = rungs[..] else {
        return Err(wanted());
    };
    let rung = rung.clone();
    Ok((brought, rung))
}

/// Rounds in each of which both sides are measured once.
const ROUNDS: usize = 10;

/// Measures a kernel as two sides in turn, each run in a fresh process, and says which differences could be seen.
fn noise(global: &Global, kernel: &str) -> Result<()> {
    let (brought, rung) = rung_of("--noise", kernel)?;
    let Brought {
        registry, family, ..
    } = &brought;
    let dtype = bench::dtype(family, None)?;
    let shape = family.form.shape(family.form.ladder_size(false), None);
    let params = Params::new();
    let input = Input {
        family,
        shape,
        dtype,
        params: &params,
    };
    let mut executor = input.open(global.setup(None, registry), false, None)?;
    bench::announce(global, executor.info());
    let wg = bench::default_work_group(executor.info());
    let case = Case {
        wg,
        ..Case::of(&family.name, rung.variant(), dtype, shape)
    };
    let mut observer = StatusLine::new(global.quiet);
    let began = Instant::now();
    let mut sides = [Vec::new(), Vec::new()];
    for at in 0..2 * ROUNDS {
        bench::go_on()?;
        if at > 0 {
            executor.renew();
        }
        let side = bench::side_in_turn(at);
        observer.case_started(
            at,
            2 * ROUNDS,
            &format!("round {}, side {}", at / 2 + 1, ["A", "B"][side]),
        );
        let settings = Settings::default();
        let outcome = bench::measured(&mut *executor, &case, &settings)?;
        let scene = Scene::on_device(&Run::begin(), executor.info(), &settings, None);
        sides[side].push(Row::of(&scene, rung.number(), &outcome));
    }
    drop(observer);
    let each = began.elapsed().as_secs_f64() / ROUNDS as f64;
    print(&report::compare::noise(&sides, each, screen(global.color)))
}

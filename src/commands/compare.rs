//! `gpulab compare`: recorded runs held against each other, or a kernel against itself.

use crate::bench;
use crate::brought::Brought;
use crate::cli::{Compare, Global};
use crate::commands::show::records::runs_of;
use crate::compare::{ComparisonRow, FileComparison, compare, in_pairs, steps};
use crate::console::{print, screen};
use crate::outcome::Executor;
use crate::outputs::{self, Outputs, Paths, TextOrJson};
use crate::plan::Case;
use crate::report::progress::StatusLine;
use crate::report::verdict::Verdict;
use crate::runner::PairJob;
use crate::store::Sink;
use crate::{Error, Result, interrupt, report, usage_error};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Compares each file with the first, and says what the steps of ladders bring where several devices are in the files.
pub fn run(global: &Global, options: &Compare) -> Result<()> {
    match (&options.curve, &options.run[..]) {
        (Some(kernel), []) => {
            let limit = options.budget.unwrap_or(CURVE_S);
            let (name, pairs) = kernel_pairs(global, kernel, limit)?;
            return curve(global, options, (&name, &pairs, limit));
        }
        (Some(_), [command]) => {
            let began = Instant::now();
            // Nothing is the same within nothing, so that all the time is used.
            let pairs = program_pairs(global, options, [command, command], 0.0)?;
            let seconds = began.elapsed().as_secs_f64();
            return curve(global, options, (command, &pairs, seconds));
        }
        (None, [old, new]) => return programs(global, options, [old, new]),
        (Some(_), _) => {
            return usage_error("--curve: --run takes one command, which is both sides");
        }
        (None, [_]) => {
            return usage_error("--run takes two commands, the old one first; or one with --curve");
        }
        (None, _) => {}
    }
    let paths = Paths::from(&options.rows);
    let mut json_file = paths.json.map(Sink::open).transpose()?;
    let mut outputs = Outputs::open(&Paths {
        json: None,
        ..paths
    })?;
    outputs.taken = paths.take_stdout();
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
    let mut verdict = Verdict::new("compare", &options.files[1..].join(" "));
    verdict.reference = Some(options.files[0].clone());
    for (comparison, name) in comparisons.iter().zip(options.files.iter().skip(1)) {
        let names = [options.files[0].as_str(), name];
        let cases = comparison.pairs.iter();
        let rows = cases.map(|case| ComparisonRow::new(names, case));
        verdict.cases.extend(rows);
        outputs.tell(global, &|screen| {
            report::compare::text(comparison, names, options.same, global.verbose, screen)
        });
    }
    if !ladders.is_empty() {
        outputs.tell(global, &|screen| {
            format!("\n{}", report::compare::steps(&ladders, screen))
        });
    }
    verdict.cases.iter().for_each(|row| outputs.row(row));
    outputs.finish(true, true)?;
    let demanded = comparisons
        .iter()
        .try_for_each(|comparison| comparison.demand(&options.fail_on));
    verdict.exit_code = demanded.as_ref().err().map_or(0, Error::exit_code);
    verdict.decide_cases();
    if let Some(file) = &mut json_file {
        outputs::replace(file, outputs::json(&verdict)?)?;
    }
    demanded
}

/// Seconds for two programs, or for a kernel and itself, unless a budget is given.
const PROGRAMS_S: f64 = 60.0;
const CURVE_S: f64 = 20.0;

/// Runs two programs in turn until their times decide.
fn programs(global: &Global, options: &Compare, commands: [&String; 2]) -> Result<()> {
    let output = TextOrJson::open(options.rows.json.as_deref())?;
    let mut verdict = Verdict::new("compare", commands[1]);
    verdict.reference = Some(commands[0].clone());
    let pairs = program_pairs(global, options, commands, options.same)?;
    verdict.decide(&pairs, options.same)?;
    let screen = screen(global.color);
    let text = report::against::text(&verdict, &pairs, None, options.same, screen);
    output.conclude(verdict, text)
}

/// Seconds from the start to the end of two programs, in pairs.
fn program_pairs(
    global: &Global,
    options: &Compare,
    commands: [&String; 2],
    same: f64,
) -> Result<Vec<[f64; 2]>> {
    interrupt::watch();
    let mut observer = StatusLine::new(global.quiet);
    let mut runs = 0;
    let limit = Duration::from_secs_f64(options.budget.unwrap_or(PROGRAMS_S));
    in_pairs((same, limit), std::process::id().into(), &mut |side| {
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

/// Says which differences pairs of something with itself, which took so many seconds, would have found.
fn curve(
    global: &Global,
    options: &Compare,
    (name, pairs, seconds): (&str, &[[f64; 2]], f64),
) -> Result<()> {
    let screen = screen(global.color);
    print(&report::compare::curve(
        name,
        pairs,
        seconds,
        options.same,
        screen,
    ))
}

/// What a kernel and its device are called, and the kernel's seconds in pairs with itself.
fn kernel_pairs(global: &Global, kernel: &str, limit: f64) -> Result<(String, Vec<[f64; 2]>)> {
    let (brought, rung) = Brought::of(kernel, None)?;
    let rung = brought.rung(kernel, rung.as_deref())?;
    let form = brought.family.form;
    let mut worker = global.worker(&brought.registry, bench::LOOK)?;
    let info = worker.info();
    bench::announce(global, info);
    let name = format!("{kernel} on {}", report::format::device(&info.name));
    let shape = form.shape(form.ladder_size(info.kind == "cpu"), None);
    let dtype = bench::dtype(&brought.family, None)?;
    let case = Case {
        wg: bench::default_work_group(info),
        ..Case::of(&brought.family.name, rung.variant(), dtype, shape)
    };
    let job = PairJob {
        cases: [case.clone(), case.clone()],
        same: 0.0,
        limit,
    };
    let pairs = worker.pair(&job)?;
    let pairs = pairs.map_err(|stop| bench::stopped(&case, stop))?;
    Ok((name, pairs))
}

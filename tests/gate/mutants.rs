//! Wrong kernels, made of the real ones by small patches: each must be rejected, on every driver that it is for.
//!
//! A patch whose text is not there, or is there more often than it says, fails the gate before anything runs. Each
//! mutant's command is run over the unpatched sources too, and must then be `ok`: a rejection means something.

mod closure;
mod dot;
mod exchanges;
mod lab;
mod minplus;
mod mutant;
mod probes;
mod reduce;
mod sync;
mod transpose;

use super::child::{self, Called, Driver, End, call, io};
use super::{Options, Report};
use gpulab::experiments::{self, Scope};
use gpulab::kernels::Sources;
use gpulab::outcome::Settings;
use gpulab::plan::Case;
use gpulab::runner::Session;
use mutant::{Control, Expect, Mutant, Subject};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const TABLES: &[&[Mutant]] = &[
    reduce::MUTANTS,
    dot::MUTANTS,
    transpose::MUTANTS,
    minplus::MUTANTS,
    closure::MUTANTS,
    lab::MUTANTS,
    probes::MUTANTS,
    exchanges::MUTANTS,
    sync::MUTANTS,
];

/// Fewer mutants are no gate.
const LEAST: usize = 150;
const LEAST_QUICK: usize = 30;

/// Far more than any case or command takes, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(400);

/// Runs the gate.
pub fn run(options: &Options) -> Result<Report, String> {
    let drivers = if options.quick {
        vec![Driver::Pocl]
    } else {
        child::drivers()?
    };
    let chosen = choose(options, &drivers);
    let mutants: Vec<&Mutant> = chosen.iter().map(|(mutant, _)| *mutant).collect();
    check_names(&mutants)?;
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("cl");
    let stale: Vec<String> = TABLES
        .iter()
        .copied()
        .flatten()
        .filter_map(|mutant| patch(&all, mutant).err())
        .collect();
    if !stale.is_empty() {
        return Err(stale.join("\n"));
    }
    let mut controls: Vec<(Control, Driver)> = Vec::new();
    for (mutant, driver) in &chosen {
        if !controls.contains(&(mutant.control, *driver)) {
            controls.push((mutant.control, *driver));
        }
    }
    let verdicts = child::in_parallel(child::ALL_CORES, &chosen, |(mutant, driver)| {
        let started = Instant::now();
        let verdict = try_one(&all, mutant, *driver);
        let seconds = started.elapsed().as_secs_f64();
        let told = verdict
            .clone()
            .unwrap_or_else(|why| format!("MISSED: {why}"));
        println!(
            "{:<9} {seconds:5.1} s  {}: {told}",
            driver.name(),
            mutant.name()
        );
        verdict
    })?;
    let failed = failed_controls(&all, &controls)?;
    let mut missed = BTreeMap::new();
    for ((mutant, driver), verdict) in chosen.iter().zip(verdicts) {
        if let Err(why) = verdict {
            missed
                .entry(mutant.name())
                .or_insert_with(Vec::new)
                .push(format!("{}: {why}", driver.name()));
        }
    }
    failed
        .iter()
        .for_each(|why| println!("CONTROL FAILED  {why}"));
    missed
        .iter()
        .for_each(|(name, whys)| println!("MISSED    {name}: {}", whys.join("; ")));
    let tried: BTreeMap<String, Expect> = mutants
        .iter()
        .map(|mutant| (mutant.name(), mutant.expect))
        .collect();
    let of = |is: fn(&Expect) -> bool| {
        tried
            .iter()
            .filter(|(name, expect)| is(expect) && !missed.contains_key(*name))
            .count()
    };
    let equivalent = of(|expect| matches!(expect, Expect::Equivalent(_)));
    let known = of(|expect| matches!(expect, Expect::Escapes(_)));
    let least = if options.only.is_some() {
        1
    } else if options.quick {
        LEAST_QUICK
    } else {
        LEAST
    };
    Ok(Report {
        passed: missed.is_empty() && failed.is_empty() && tried.len() >= least,
        figure: format!(
            "{} mutants (at least {least}): {} caught, {equivalent} equivalent, {known} known to escape, {} missed, controls {} of {} ok ({})",
            tried.len(),
            tried.len() - equivalent - known - missed.len(),
            missed.len(),
            controls.len() - failed.len(),
            controls.len(),
            drivers
                .iter()
                .map(|driver| driver.name())
                .collect::<Vec<_>>()
                .join(", "),
        ),
    })
}

/// The mutants to try, each with a driver that it is for: for a quick look, a fixed spread over all tables.
fn choose(options: &Options, drivers: &[Driver]) -> Vec<(&'static Mutant, Driver)> {
    // To measure all ceilings takes longer than all the rest of a quick look.
    let is_quick = |mutant: &Mutant| !options.quick || !mutant.name().starts_with("ceiling:");
    let wanted = |mutant: &&Mutant| {
        is_quick(mutant)
            && options
                .only
                .as_ref()
                .is_none_or(|only| mutant.name().contains(only.as_str()))
    };
    let mutants = TABLES.iter().copied().flatten().filter(wanted);
    let all: Vec<_> = mutants
        .flat_map(|mutant| {
            drivers
                .iter()
                .filter(|driver| mutant.is_for(**driver))
                .map(move |driver| (mutant, *driver))
        })
        .collect();
    if !options.quick || all.len() <= LEAST_QUICK {
        return all;
    }
    let count = all.len();
    (0..LEAST_QUICK)
        .map(|i| all[i * count / LEAST_QUICK])
        .collect()
}

fn check_names(mutants: &[&Mutant]) -> Result<(), String> {
    for (i, mutant) in mutants.iter().enumerate() {
        if mutants[..i]
            .iter()
            .any(|other| other.name() == mutant.name() && !std::ptr::eq(*other, *mutant))
        {
            return Err(format!("two mutants are called {}", mutant.name()));
        }
    }
    Ok(())
}

/// How a mutant met what is expected of it, or why it did not.
fn try_one(all: &Path, mutant: &Mutant, driver: Driver) -> Result<String, String> {
    let folder = patched(all, mutant)?;
    let seen = see(folder.path(), &mutant.control, driver)?;
    match mutant.expect {
        Expect::Equivalent(why) if seen.is_ok() => Ok(format!("equivalent: {why}")),
        Expect::Escapes(why) if seen.is_ok() => Ok(format!("ESCAPES, as is known: {why}")),
        expect if expect.is_met(&seen) => Ok(seen.tell()),
        expect => Err(format!("{} where {expect:?} was expected", seen.tell())),
    }
}

/// Of the controls those whose unpatched kernels are not `ok`, with the reasons. Right kernels end no process, and one process
/// compiles several sooner than each its own: those of Oclgrind, whose log does not tell cases apart, and commands are alone, and so
/// is whatever is not right among others.
fn failed_controls(all: &Path, controls: &[(Control, Driver)]) -> Result<Vec<String>, String> {
    const TOGETHER: usize = 8;
    let is_alone = |(control, driver): &&(Control, Driver)| {
        *driver == Driver::Oclgrind || matches!(control.subject, Subject::Command(_))
    };
    let (alone, others): (Vec<_>, Vec<_>) = controls
        .iter()
        .copied()
        .partition(|control| is_alone(&control));
    let mut batches: Vec<Vec<(Control, Driver)>> =
        alone.into_iter().map(|control| vec![control]).collect();
    for driver in Driver::ALL {
        let of_driver: Vec<_> = others
            .iter()
            .copied()
            .filter(|(_, of)| *of == driver)
            .collect();
        batches.extend(of_driver.chunks(TOGETHER).map(<[_]>::to_vec));
    }
    let failed = child::in_parallel(child::ALL_CORES, &batches, |batch| {
        let is_right = |seen: Vec<Seen>| seen.len() == batch.len() && seen.iter().all(Seen::is_ok);
        if batch.len() > 1 && see_cases(all, batch).is_ok_and(is_right) {
            return Vec::new();
        }
        batch
            .iter()
            .filter_map(|(control, driver)| control_fails(all, control, *driver))
            .collect()
    })?;
    Ok(failed.concat())
}

/// Why the unpatched kernel is not `ok`, if it is not.
fn control_fails(all: &Path, control: &Control, driver: Driver) -> Option<String> {
    let why = match see(all, control, driver) {
        Ok(seen) if seen.is_ok() => return None,
        Ok(seen) => seen.tell(),
        Err(why) => why,
    };
    Some(format!("{} {control:?}: {why}", driver.name()))
}

/// A copy of the kernels with one of them patched.
fn patched(all: &Path, mutant: &Mutant) -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(io)?;
    child::copy_tree(all, folder.path())?;
    fs::write(folder.path().join(mutant.file()), patch(all, mutant)?).map_err(io)?;
    Ok(folder)
}

/// The mutant's text.
fn patch(all: &Path, mutant: &Mutant) -> Result<String, String> {
    let mut text = fs::read_to_string(all.join(mutant.file()))
        .map_err(|e| format!("{}: {e}", mutant.file()))?;
    for (find, put) in mutant.patches() {
        let found = text.matches(find).count();
        if found != mutant.times {
            let name = mutant.name();
            return Err(format!(
                "{name}: {}: {find:?} is there {found} times, not {}",
                mutant.file(),
                mutant.times
            ));
        }
        text = text.replace(find, put);
    }
    Ok(text)
}

/// What a run over some kernels showed.
pub struct Seen {
    /// The row's status; `died` or `hung` where the process did.
    status: String,
    reason: String,
    /// What Oclgrind found.
    log: String,
}

impl Seen {
    fn is_ok(&self) -> bool {
        self.status == "ok" && self.log.is_empty()
    }

    fn tell(&self) -> String {
        let first = |text: &str| {
            text.trim()
                .lines()
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let parts = [self.status.clone(), first(&self.reason), first(&self.log)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(": ")
    }
}

/// What a child is asked to run.
#[derive(Serialize, Deserialize)]
struct Question {
    kernels: PathBuf,
    /// Made by the gate, or else one of an experiment's, which depends on the device.
    case: Option<Case>,
    trial: Option<(String, String, String)>,
    is_last: bool,
    settings: Settings,
    verify: bool,
    again: u32,
}

/// Runs a control's command over these kernels.
fn see(kernels: &Path, control: &Control, driver: Driver) -> Result<Seen, String> {
    if let Subject::Command(args) = control.subject {
        return see_command(kernels, args, driver);
    }
    let seen = see_cases(kernels, &[(*control, driver)])?;
    seen.into_iter().next().ok_or_else(|| "no answer".into())
}

/// Runs the cases of controls of one driver over these kernels, one after the other in one process.
fn see_cases(kernels: &Path, controls: &[(Control, Driver)]) -> Result<Vec<Seen>, String> {
    let driver = controls.first().ok_or("no case")?.1;
    let question = |(control, _): &(Control, Driver)| {
        Ok(Question {
            kernels: kernels.to_owned(),
            case: control.case(driver == Driver::Oclgrind)?,
            trial: control.trial(),
            is_last: control.is_last,
            settings: control.settings(),
            verify: driver == Driver::Oclgrind,
            again: control.again,
        })
    };
    let questions = controls
        .iter()
        .map(question)
        .collect::<Result<Vec<Question>, String>>()?;
    let questions = serde_json::to_string(&questions).map_err(|e| e.to_string())?;
    let Called { end, log } = call("mutants", driver, &questions, DEADLINE)?;
    let answers: Vec<(String, String)> = match end {
        End::Done(answers) => serde_json::from_str(&answers).map_err(|e| e.to_string())?,
        End::Died(why) => vec![("died".into(), why)],
        End::TimedOut => vec![("hung".into(), String::new())],
    };
    Ok(answers
        .into_iter()
        .map(|(status, reason)| Seen {
            status,
            reason,
            log: log.clone(),
        })
        .collect())
}

/// Runs cases as a ladder, a sweep's rounds and an experiment do; the child's part of [`see_cases`].
pub fn child(driver: Driver, questions: &str) -> Result<String, String> {
    let questions: Vec<Question> = serde_json::from_str(questions).map_err(|e| e.to_string())?;
    let answers = questions
        .into_iter()
        .map(|question| answer(driver, question))
        .collect::<Result<Vec<_>, String>>()?;
    serde_json::to_string(&answers).map_err(|e| e.to_string())
}

/// The status of a case's row, and its reason.
fn answer(driver: Driver, question: Question) -> Result<(String, String), String> {
    let device = driver.open()?;
    let target = gpulab::device::Device::info(&device).target.clone();
    let case = match (question.case, &question.trial) {
        (Some(case), _) => case,
        (None, Some((experiment, rung, series))) => {
            trial(&target, (experiment, rung, series), question.is_last)?
        }
        (None, None) => return Err("there is no case".into()),
    };
    let mut session = Session::new(
        Box::new(device),
        Sources {
            dir: Some(question.kernels),
        },
        None,
    );
    let mut outcome = if question.verify {
        session.verify(&case)
    } else {
        session.run(&case, &question.settings)
    };
    for _ in 0..question.again {
        if outcome.status().name() == "ok" {
            outcome = outcome.pooled(
                session.run_again(&case, &question.settings),
                &question.settings,
            );
        }
    }
    Ok((
        outcome.status().name().to_owned(),
        outcome.reason().to_owned(),
    ))
}

/// An experiment's first or last trial of a kernel, `FAMILY/VARIANT`, in a series whose name has `series` in it.
fn trial(
    target: &gpulab::plan::Target,
    (experiment, kernel, series): (&str, &str, &str),
    is_last: bool,
) -> Result<Case, String> {
    let study = experiments::experiment(experiment)
        .ok_or_else(|| format!("there is no experiment {experiment}"))?;
    let plan = study.plan(&Scope {
        target,
        quick: true,
        seed: 7,
    });
    let is_meant = |t: &&experiments::Trial| {
        format!("{}/{}", t.case.family, t.case.variant) == kernel && t.series.contains(series)
    };
    let known = || {
        plan.iter()
            .map(|t| format!("{}/{} {}", t.case.family, t.case.variant, t.series))
            .collect::<Vec<_>>()
    };
    let trial = if is_last {
        plan.iter().rfind(is_meant)
    } else {
        plan.iter().find(is_meant)
    };
    trial
        .map(|t| t.case.clone())
        .ok_or_else(|| format!("{experiment} has no {kernel} {series}: {:?}", known()))
}

/// Runs gpulab itself, and finds the worst of its rows.
fn see_command(kernels: &Path, args: &str, driver: Driver) -> Result<Seen, String> {
    let scratch = tempfile::tempdir().map_err(io)?;
    let mut command = driver.command(Path::new(env!("CARGO_BIN_EXE_gpulab")), scratch.path())?;
    let rows = scratch.path().join("rows.csv");
    let words = args.split_whitespace().map(|arg| {
        if arg == "ROWS" {
            rows.display().to_string()
        } else {
            arg.to_owned()
        }
    });
    command
        .args(words)
        .args(["-d", driver.selector(), "--cl-dir"])
        .arg(kernels);
    command
        .env("XDG_CACHE_HOME", scratch.path().join("cache"))
        .env("HOME", scratch.path());
    // Ceilings are measured once for all tests.
    command.env(
        "GPULAB_DATA",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"),
    );
    let (status, said) = child::finish(command, scratch.path(), DEADLINE)?;
    let Some(status) = status else {
        return Ok(Seen {
            status: "hung".into(),
            reason: said,
            log: String::new(),
        });
    };
    let mut statuses = Vec::new();
    let mut reader = csv::Reader::from_path(&rows).map_err(|e| format!("{e}: {said}"))?;
    let headers = reader.headers().map_err(|e| e.to_string())?.clone();
    let column = |name: &str| headers.iter().position(|header| header == name);
    let (Some(of_status), Some(of_reason)) = (column("status"), column("reason")) else {
        return Err(format!("rows without a status: {headers:?}"));
    };
    for row in reader.records() {
        let row = row.map_err(|e| e.to_string())?;
        statuses.push((row[of_status].to_owned(), row[of_reason].to_owned()));
    }
    let bad = statuses
        .iter()
        .find(|(status, _)| status != "ok" && status != "skipped");
    let ok = statuses.iter().find(|(status, _)| status == "ok");
    // Of a ceiling's probes, the rows are of those that are right; the others are told of.
    if args.starts_with("ceiling") && !status.success() && said.contains("(wrong_result)") {
        return Ok(Seen {
            status: "wrong_result".into(),
            reason: format!("{status}: {said}"),
            log: String::new(),
        });
    }
    // Rejected means a row that says so, and an exit status that does.
    Ok(match (bad, ok) {
        (Some((name, reason)), _) if !status.success() => Seen {
            status: name.clone(),
            reason: format!("{status}: {reason}"),
            log: String::new(),
        },
        (None, Some(_)) if status.success() => Seen {
            status: "ok".into(),
            reason: String::new(),
            log: String::new(),
        },
        _ => Seen {
            status: "confused".into(),
            reason: format!("{status}, rows {statuses:?}: {said}"),
            log: String::new(),
        },
    })
}

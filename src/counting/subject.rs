//! What is counted: a ladder, an experiment, or what was measured; and the cases that this makes.

use super::run::{CountedTrial, is_large, note, of_rung, small, usual_size};
use crate::adopt::{Brought, described, exercises, parted};
use crate::bench::{self, Input, WORK_GROUP};
use crate::cli::CountArgs;
use crate::exchange::exchange;
use crate::experiments::{EXPERIMENTS, Experiment, Scope, Trial, experiment};
use crate::kernels::{self, ladders};
use crate::plan::{REPEATS, Target};
use crate::prelude::*;
use crate::shell::quoted;
use crate::store::Recorded;
use crate::{shown, why, words};

/// Most times, by default, that a kernel of an experiment repeats its work inside.
const FEW_REPEATS: u64 = 2;

/// What is counted: a family's rungs, an experiment's trials, or what was measured.
pub(crate) enum Countable {
    /// With the list of the rungs that are meant, if it is not all.
    Ladder(Box<Brought>, Option<String>),
    Trials(&'static Experiment),
    Measured(Vec<Row>),
}

impl Countable {
    pub(crate) fn find(options: &CountArgs) -> Result<Countable, Error> {
        if !options.of.is_empty() {
            return options
                .of
                .iter()
                .map(|path| measured(path))
                .collect::<Result<Vec<_>, _>>()
                .map(|rows| Countable::Measured(rows.into_iter().flatten().collect()));
        }
        let what = options.subject.name().unwrap_or_default();
        let (name, part) = parted(what);
        let variant = &options.rungs.variant;
        if part.is_some() && variant.is_some() && !is_exercise(name) {
            return Err(Error::Usage(format!("--variant: {what} names the rung already; leave one of them out")));
        }
        let ladder = |(brought, list): (Brought, Option<String>)| Countable::Ladder(brought.into(), list);
        if options.solves.is_some() || name.ends_with(".cl") || is_exercise(name) {
            let named = Brought::of(what, options.solves.as_deref())?;
            return Ok(ladder((named.0, variant.clone())));
        }
        let list = part.map(str::to_owned).or(variant.clone());
        if is_family_file(name) || ladders().any(|family| family.name == name) {
            return Brought::new(name, options.rungs.own.as_deref()).map(|brought| ladder((brought, list)));
        }
        if options.rungs.own.is_some() {
            return Err(Error::Usage(format!("--own: {name} has no ladder; name the kernel's family")));
        }
        if let (Some(experiment), None) = (experiment(name), part) {
            return Ok(Countable::Trials(experiment));
        }
        // Kernels of experiments and probes too, though nobody is told.
        Brought::new(name).map(|brought| ladder((brought, list))).map_err(|_| {
            if Path::new(name).is_file() {
                return Error::Usage(format!(
                    "{name} is no kernel's file: gpulab count -- {} runs a program",
                    quoted(name)
                ));
            }
            let names = ladders().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
            Error::Usage(words::unknown("family or experiment", name, &names.collect::<Vec<_>>()))
        })
    }

    pub(crate) fn cases<'a>(
        &'a self,
        options: &CountArgs,
        registry: &'a Registry,
        target: &Target,
        quiet: bool,
    ) -> Result<Vec<CountedTrial<'a>>, Error> {
        match self {
            Countable::Measured(rows) => Ok(small(registry, rows, target)),
            Countable::Ladder(brought, list) => ladder(brought, list.as_deref(), options, target),
            Countable::Trials(experiment) => {
                let all = trials(experiment, options.case.n, options.data.seed, target)?;
                let rungs: Vec<&Rung> = all.iter().map(|one| one.rung).collect();
                bench::check_sources(&rungs, options.kernels.cl_dir.as_deref(), quiet)?;
                Ok(all)
            }
        }
    }
}

fn measured(path: &Path) -> Result<Vec<Row>, Error> {
    let name = path.display().to_string();
    match shown::read(&name)?.0 {
        Recorded::Rows(rows) if rows.iter().any(|row| why::case_of(&Registry::default(), row).is_some()) => Ok(rows),
        _ => Err(Error::Usage(format!("--of {name}: it holds no rows of a ladder, as --csv writes them"))),
    }
}

/// Refuses what can be seen before anything is started.
pub(crate) fn check_ladder(
    brought: &Brought,
    list: Option<&str>,
    options: &CountArgs,
    quiet: bool,
) -> Result<(), Error> {
    let family = &brought.family;
    let dtype = dtype(brought, options);
    bench::check_dtype(family, dtype)?;
    let rungs = brought.rungs(list)?;
    bench::check_sources(&rungs, options.kernels.cl_dir.as_deref(), quiet)?;
    let shape = shape(family, options)?;
    if shape.n == 0 || shape.m == 0 {
        return Err(Error::Usage("no elements, so no launch to count: choose a larger --n".into()));
    }
    let params = Params::new();
    if options.lines && is_large(family.form, shape, options.machine.model()) {
        let why = "--lines needs cases that the simulator runs whole; choose a smaller --n";
        return Err(Error::Usage(why.into()));
    }
    let input = Input { family, shape, dtype, params: &params };
    input.check_host(input.bytes()?)?;
    settings(family, &rungs, options).map(drop)
}

fn shape(family: &Family, options: &CountArgs) -> Result<Shape, Error> {
    bench::shape(family, options.case.n, options.case.m, family.usual_shape(usual_size(family.form), true))
}

/// The settings that were given, each with its one value.
fn settings(family: &Family, rungs: &[&Rung], options: &CountArgs) -> Result<Params, Error> {
    let op = options.op.iter().map(|op| format!("op={op}"));
    let texts: Vec<String> = options.case.set.iter().cloned().chain(op).collect();
    bench::single_settings(family, rungs, &texts)
}

/// The type that was asked for, or that the reader's kernel is of, or the family's first.
fn dtype(brought: &Brought, options: &CountArgs) -> Dtype {
    options
        .case
        .element
        .dtype
        .or_else(|| brought.own.as_ref().and_then(Rung::own_dtype))
        .unwrap_or(brought.family.dtypes[0])
}

fn ladder<'a>(
    brought: &'a Brought,
    list: Option<&str>,
    options: &CountArgs,
    target: &Target,
) -> Result<Vec<CountedTrial<'a>>, Error> {
    let family = &brought.family;
    let rungs = brought.rungs(list)?;
    let case = Case::of(&family.name, "", dtype(brought, options), shape(family, options)?);
    let case = Case { params: settings(family, &rungs, options)?, seed: options.data.seed, ..case };
    let wg = |rung: &Rung| options.case.wg.or(rung.work_group()).unwrap_or(WORK_GROUP);
    let counted =
        |rung: &'a Rung| of_rung(family, rung, &Case { wg: wg(rung), ..case.clone() }, target, options.machine.model());
    Ok(rungs.into_iter().map(counted).collect())
}

/// An experiment's trials, cut down to `n` elements or the usual number; what goes on between host and device has no kernel to
/// count.
pub(crate) fn trials(
    experiment: &'static Experiment,
    n: Option<u64>,
    seed: u64,
    target: &Target,
) -> Result<Vec<CountedTrial<'static>>, Error> {
    let mut all: Vec<CountedTrial<'_>> = Vec::new();
    for trial in experiment.plan(&Scope { target, quick: true, seed }) {
        if exchange(&trial.case.family).is_some() {
            continue;
        }
        let found = kernels::built_in(&trial.case.family).and_then(|f| Some((f, f.rung(&trial.case.variant)?)));
        let (family, rung) = found.ok_or_else(|| {
            Error::Failed(format!("{}: its plan names a kernel that does not exist", experiment.name))
        })?;
        let cut = cut_down(&trial, family, rung, n, target);
        let (case, note) = match cut {
            Ok(case) => (case.clone(), note(family, rung, &case, target)),
            Err(stop) => (trial.case.clone(), Err(stop)),
        };
        // What one run tells twice, as a rate and as registers, is counted once.
        if all.iter().all(|known| known.case != case) {
            let trial = Some((experiment.name, trial.series, trial.x));
            all.push(CountedTrial { case, family, rung, note, trial, large: None });
        }
    }
    if all.is_empty() {
        let why = "measures work between host and device: it has no kernel to count";
        return Err(Error::Usage(format!("{} {why}", experiment.name)));
    }
    Ok(all)
}

/// Refuses options that an experiment's trials leave no room for.
pub(crate) fn check_trials(options: &CountArgs) -> Result<(), Error> {
    let refused = [
        ("--variant", options.rungs.variant.is_some()),
        ("--m", options.case.m.is_some()),
        ("--dtype", options.case.element.dtype.is_some()),
        ("--wg", options.case.wg.is_some()),
        ("--op", options.op.is_some()),
        ("--set", !options.case.set.is_empty()),
    ];
    refused.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| {
        Err(Error::Usage(format!("{option}: an experiment's trials set this themselves; --n limits their size")))
    })
}

/// The trial's case over as few elements as the kernel takes, from the size that was asked for on.
fn cut_down(trial: &Trial, family: &Family, rung: &Rung, n: Option<u64>, target: &Target) -> Result<Case, Stop> {
    let usual = if family.form == Form::Vector { 1 << 12 } else { usual_size(family.form) };
    let least = n.unwrap_or(usual);
    let whole = trial.case.shape;
    let mut case = trial.case.clone();
    if let Some(repeats) = case.params.get_mut(REPEATS) {
        *repeats = repeats.parse::<u64>().unwrap_or(1).min(FEW_REPEATS).to_string();
    }
    if whole.n > least && trial.x == whole.n as f64 {
        let why = format!("n={} is large for a simulator; --n {} counts it", whole.n, whole.n);
        return Err(Stop::new(Status::Skipped, why));
    }
    let sizes = std::iter::successors(Some(least), |n| n.checked_mul(2)).take_while(|&n| n < whole.n);
    for n in sizes {
        let wg = case.wg.size() as u64;
        let n = if whole.n.is_multiple_of(wg) { (n / wg).max(1) * wg } else { n };
        let cut = Case { shape: Shape { n: n.min(whole.n), m: whole.m.min(n) }, ..case.clone() };
        if family.plan(rung, &cut, target).is_ok() {
            return Ok(cut);
        }
    }
    Ok(case)
}

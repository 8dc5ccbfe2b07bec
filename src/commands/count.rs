//! `gpulab count`: what kernels do, counted in a simulator.

use crate::adopt::{Brought, described};
use crate::bench::{self, Input};
use crate::cli::{CountArgs, Global};
use crate::console::{Out, screen, worst_of};
use crate::count::{CountRow, LockstepModel};
use crate::counting::{
    CountedTrial, Counting, WORK_GROUP, is_large, of_rung, open, remark, small, source_line, usual_size,
};
use crate::data::{Params, Shape};
use crate::exchange::exchange;
use crate::experiments::{EXPERIMENTS, Experiment, Scope, Trial, experiment};
use crate::kernels::{self, FAMILIES, Family, Form, Registry, Rung, Sources};
use crate::outcome::{Status, Stop};
use crate::outputs::{Outputs, Paths};
use crate::plan::{Case, REPEATS, Target};
use crate::record::Row;
use crate::simulator::Simulator;
use crate::store::{Recorded, recorded};
use crate::{Error, ceilings, files, interrupt, report, why, words};
use std::path::Path;
use std::time::Duration;

/// Most times, by default, that a kernel of an experiment repeats its work inside.
const FEW_REPEATS: u64 = 2;

/// Counts what the options name.
pub fn run(out: &mut Out, global: &Global, options: &CountArgs) -> Result<(), Error> {
    if global.device_given().is_some() {
        let why = "--device: a simulator counts kernels, not a device; leave it out";
        return Err(Error::Usage(why.into()));
    }
    let subject = Countable::find(options)?;
    let registry = &Registry::default();
    let registry = if let Countable::Ladder(brought) = &subject { &brought.registry } else { registry };
    match &subject {
        Countable::Ladder(brought) => check_ladder(brought, options, global.quiet)?,
        Countable::Trials(_) => check_trials(options)?,
        Countable::Measured(_) => {}
    }
    let mut outputs: Outputs<CountRow> = Outputs::open(&Paths::from(&options.rows))?;
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let model = LockstepModel { warp: options.warp, segment: options.segment, banks: options.banks };
    let mut worker = open(
        registry,
        &simulator,
        model,
        options.kernels.cl_dir.as_deref(),
        Duration::from_secs_f64(options.deadline),
    )?;
    let cases = subject.cases(options, registry, worker.target(), global.quiet)?;
    let mut counting =
        Counting { lines: options.lines, quiet: global.quiet, simulator: &simulator.version, model, rows: Vec::new() };
    let counted = counting.run(&mut worker, &cases, &mut |row| outputs.row(row));
    let rows = counting.rows;
    let sources = Sources { dir: options.kernels.cl_dir.clone() };
    let source = |file: &str, line: u64| source_line(&sources, file, line);
    let table = |rows: &[CountRow], screen| {
        let table = report::count::table(rows, global.verbose, screen);
        if options.lines { table + &report::count::lines(rows, &source, screen) } else { table }
    };
    let problem = |row: &CountRow| (row.family.clone(), row.n, row.dtype);
    let is_one = |a: &CountRow, b: &CountRow| options.of.is_empty() || problem(a) == problem(b);
    let text = |screen| rows.chunk_by(is_one).map(|rows| table(rows, screen)).collect::<Vec<_>>().join("\n");
    if !rows.is_empty() {
        outputs.tell(out, &text, screen(global.color), global.quiet);
    }
    let finished = outputs.finish(counted.is_ok(), !rows.is_empty());
    let wrong = gone_wrong(&rows);
    worst_of([counted, wrong, finished].into_iter().filter_map(Result::err))
}

/// The error that the worst case makes.
fn gone_wrong(rows: &[CountRow]) -> Result<(), Error> {
    let find = |status, how: &str| {
        let row = rows.iter().find(|row| row.status == status)?;
        Some(format!("{}/{} {how} in the simulator: {}", row.family, row.variant, row.reason))
    };
    if let Some(what) = find(Status::WrongResult, "gave a wrong result") {
        return Err(Error::WrongResult(what));
    }
    if let Some(what) = find(Status::BuildFailed, "did not build") {
        return Err(Error::BuildFailed(what));
    }
    let how = "did not finish";
    let failed = find(Status::Failed, how).or_else(|| find(Status::Timeout, how));
    failed.map_or(Ok(()), |what| Err(Error::Failed(what)))
}

/// What is counted: a family's rungs, an experiment's trials, or what was measured.
enum Countable {
    Ladder(Box<Brought>),
    Trials(&'static Experiment),
    Measured(Vec<Row>),
}

impl Countable {
    fn find(options: &CountArgs) -> Result<Countable, Error> {
        if !options.of.is_empty() {
            return options
                .of
                .iter()
                .map(|path| measured(path))
                .collect::<Result<Vec<_>, _>>()
                .map(|rows| Countable::Measured(rows.into_iter().flatten().collect()));
        }
        let name = options.subject.name().unwrap_or_default();
        if described::is_file(name) || FAMILIES.iter().any(|family| family.name == name) {
            return Brought::new(name, options.rungs.own.as_deref()).map(|brought| Countable::Ladder(brought.into()));
        }
        if options.rungs.own.is_some() {
            return Err(Error::Usage(format!("--own: {name} has no ladder; name the kernel's family")));
        }
        if let Some(experiment) = experiment(name) {
            return Ok(Countable::Trials(experiment));
        }
        // Kernels of experiments and probes too, though nobody is told.
        Brought::new(name, None).map(|brought| Countable::Ladder(brought.into())).map_err(|_| {
            let names = FAMILIES.iter().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
            Error::Usage(words::unknown("family or experiment", name, &names.collect::<Vec<_>>()))
        })
    }

    fn cases<'a>(
        &'a self,
        options: &CountArgs,
        registry: &'a Registry,
        target: &Target,
        quiet: bool,
    ) -> Result<Vec<CountedTrial<'a>>, Error> {
        match self {
            Countable::Measured(rows) => Ok(small(registry, rows, target)),
            Countable::Ladder(brought) => ladder(brought, options, target),
            Countable::Trials(experiment) => trials(experiment, options, target, quiet),
        }
    }
}

/// The rows of a file of ladders.
fn measured(path: &Path) -> Result<Vec<Row>, Error> {
    let name = path.display().to_string();
    let text = files::read(path).map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
    match recorded(&text, &name)?.0 {
        Recorded::Rows(rows) if rows.iter().any(|row| why::case_of(&Registry::default(), row).is_some()) => Ok(rows),
        _ => Err(Error::Usage(format!("--of {name}: it holds no rows of a ladder, as --csv writes them"))),
    }
}

/// Refuses what can be seen before anything is started.
fn check_ladder(brought: &Brought, options: &CountArgs, quiet: bool) -> Result<(), Error> {
    let family = &brought.family;
    bench::check_dtype(family, options.element.dtype.unwrap_or(family.dtypes[0]))?;
    let rungs = brought.rungs(options.rungs.variant.as_deref())?;
    bench::check_sources(&rungs, options.kernels.cl_dir.as_deref(), quiet)?;
    let shape = shape(family, options)?;
    if shape.n == 0 || shape.m == 0 {
        return Err(Error::Usage("no elements, so no launch to count: choose a larger --n".into()));
    }
    let params = Params::new();
    if options.lines && is_large(family.form, shape) {
        let why = "--lines needs cases that the simulator runs whole; choose a smaller --n";
        return Err(Error::Usage(why.into()));
    }
    let input = Input { family, shape, dtype: options.element.dtype.unwrap_or(family.dtypes[0]), params: &params };
    input.check_host(input.bytes()?)?;
    settings(family, &rungs, options).map(drop)
}

fn shape(family: &Family, options: &CountArgs) -> Result<Shape, Error> {
    bench::shape(family, options.n, options.m, family.usual_shape(usual_size(family.form), true))
}

/// The settings that were given, each with its one value.
fn settings(family: &Family, rungs: &[&Rung], options: &CountArgs) -> Result<Params, Error> {
    let op = options.op.iter().map(|op| format!("op={op}"));
    let texts: Vec<String> = options.set.iter().cloned().chain(op).collect();
    bench::single_settings(family, rungs, &texts)
}

fn ladder<'a>(brought: &'a Brought, options: &CountArgs, target: &Target) -> Result<Vec<CountedTrial<'a>>, Error> {
    let family = &brought.family;
    let rungs = brought.rungs(options.rungs.variant.as_deref())?;
    let case = Case::of(&family.name, "", options.element.dtype.unwrap_or(family.dtypes[0]), shape(family, options)?);
    let case = Case { params: settings(family, &rungs, options)?, seed: options.data.seed, ..case };
    let wg = |rung: &Rung| options.wg.or(rung.work_group()).unwrap_or(WORK_GROUP);
    let counted = |rung: &'a Rung| of_rung(family, rung, &Case { wg: wg(rung), ..case.clone() }, target);
    Ok(rungs.into_iter().map(counted).collect())
}

/// An experiment's trials, cut down; what goes on between host and device has no kernel to count.
fn trials(
    experiment: &'static Experiment,
    options: &CountArgs,
    target: &Target,
    quiet: bool,
) -> Result<Vec<CountedTrial<'static>>, Error> {
    let mut all: Vec<CountedTrial<'_>> = Vec::new();
    for trial in experiment.plan(&Scope { target, quick: true, seed: options.data.seed }) {
        if exchange(&trial.case.family).is_some() {
            continue;
        }
        let found = kernels::built_in(&trial.case.family).and_then(|f| Some((f, f.rung(&trial.case.variant)?)));
        let unknown = || Error::Failed(format!("{}: its plan names a kernel that does not exist", experiment.name));
        let (family, rung) = found.ok_or_else(unknown)?;
        let cut = cut_down(&trial, family, rung, options, target);
        let (case, remark) = match cut {
            Ok(case) => (case.clone(), remark(family, rung, &case, target)),
            Err(stop) => (trial.case.clone(), Err(stop)),
        };
        // What one run tells twice, as a rate and as registers, is counted once.
        if all.iter().all(|known| known.case != case) {
            let trial = Some((experiment.name, trial.series, trial.x));
            all.push(CountedTrial { case, family, rung, remark, trial, large: None });
        }
    }
    if all.is_empty() {
        let why = "measures work between host and device: it has no kernel to count";
        return Err(Error::Usage(format!("{} {why}", experiment.name)));
    }
    let rungs: Vec<&Rung> = all.iter().map(|one| one.rung).collect();
    bench::check_sources(&rungs, options.kernels.cl_dir.as_deref(), quiet)?;
    Ok(all)
}

/// Refuses options that an experiment's trials leave no room for.
fn check_trials(options: &CountArgs) -> Result<(), Error> {
    let refused = [
        ("--variant", options.rungs.variant.is_some()),
        ("--m", options.m.is_some()),
        ("--dtype", options.element.dtype.is_some()),
        ("--wg", options.wg.is_some()),
        ("--op", options.op.is_some()),
        ("--set", !options.set.is_empty()),
    ];
    refused.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| {
        Err(Error::Usage(format!("{option}: an experiment's trials set this themselves; --n limits their size")))
    })
}

/// The trial's case over as few elements as the kernel takes, from the size that was asked for on.
fn cut_down(trial: &Trial, family: &Family, rung: &Rung, options: &CountArgs, target: &Target) -> Result<Case, Stop> {
    let usual = if family.form == Form::Vector { 1 << 12 } else { usual_size(family.form) };
    let (least, whole) = (options.n.unwrap_or(usual), trial.case.shape);
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

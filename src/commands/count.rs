//! `gpulab count`: what kernels do, counted in a simulator.

use super::bench::{self, Input};
use super::outputs::{Outputs, Paths};
use super::{Out, described, interrupt, own, say, screen, words};
use crate::cli::{CountArgs, Global};
use crate::count::{CountRow, CountSubject, CountingWorker, LockstepModel, Simulator, small_cases, stretched};
use crate::data::{Params, Shape};
use crate::exchange::exchange;
use crate::experiments::{EXPERIMENTS, Experiment, Scope, Trial, experiment};
use crate::kernels::{self, FAMILIES, Family, Form, Rung, declared_work_group};
use crate::plan::{Case, Plan, REPEATS, Role, Target, WorkGroup};
use crate::record::{Row, Run};
use crate::report;
use crate::report::progress::{Observer, StatusLine};
use crate::runner::{Sources, Status, Stop};
use crate::store::{Recorded, recorded};
use crate::worker::Setup;
use crate::{Error, ceilings, files, why};
use std::path::Path;
use std::time::Duration;

/// Most times that a kernel of an experiment repeats its work inside, if nobody says.
const FEW_REPEATS: u64 = 2;

/// Of kernels that take any, if nobody says.
const WORK_GROUP: WorkGroup = WorkGroup::linear(256);

/// Counts what the options name.
///
/// # Errors
/// Bad options, no simulator, outputs that cannot be written, and the worst thing that happened to a case.
pub fn run(out: &mut Out, global: &Global, options: &CountArgs) -> Result<(), Error> {
    if global.device_given().is_some() {
        let why = "--device: a simulator counts kernels, not a device; leave it out";
        return Err(Error::Usage(why.into()));
    }
    let subject = Countable::find(options)?;
    match &subject {
        Countable::Ladder(family) => check_ladder(family, options, global.quiet)?,
        Countable::Trials(_) => check_trials(options)?,
        Countable::Measured(_) => {}
    }
    let [csv, json] = [&options.csv, &options.json].map(Option::as_deref);
    let mut outputs: Outputs<CountRow> = Outputs::open(&Paths { csv, json, ..Paths::default() })?;
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let model = LockstepModel { warp: options.warp, segment: options.segment, banks: options.banks };
    let mut worker = open(&simulator, model, options.cl_dir.as_deref(), Duration::from_secs_f64(options.deadline))?;
    let cases = subject.cases(options, worker.target(), global.quiet)?;
    let mut counting =
        Counting { lines: options.lines, quiet: global.quiet, simulator: &simulator.version, model, rows: Vec::new() };
    let counted = counting.run(&mut worker, &cases, &mut |row| outputs.row(row));
    let rows = counting.rows;
    let sources = Sources { dir: options.cl_dir.clone() };
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
    bench::worst_of([counted, wrong, finished].into_iter().filter_map(Result::err))
}

/// Starts a worker in the simulator, where each case may take so long.
pub(super) fn open(
    simulator: &Simulator,
    model: LockstepModel,
    cl_dir: Option<&Path>,
    deadline: Duration,
) -> Result<CountingWorker, Error> {
    let setup = Setup { cl_dir: cl_dir.map(Path::to_path_buf), ..Setup::default() };
    CountingWorker::open(simulator, model, setup, deadline, (interrupt::interrupted, say))
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
    Ladder(&'static Family),
    Trials(&'static Experiment),
    Measured(Vec<Row>),
}

/// A case to count, with what it is one of.
pub(super) struct CountedTrial {
    case: Case,
    rung: &'static Rung,
    /// What is to be known of its counts; or why there are none.
    remark: Result<&'static str, Stop>,
    trial: Option<(&'static str, String, f64)>,
    /// Of a case that is too large for a simulator, what it launches: its counts follow from those of small cases.
    large: Option<Plan>,
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
        let name = options.name();
        if described::is_file(name) {
            return described::family(Path::new(name), None).map(Countable::Ladder);
        }
        if let Some(family) = FAMILIES.iter().find(|family| family.name == name) {
            // With the own kernel among its rungs.
            return own::rungs(family, options.own.as_deref(), None).map(|(family, _)| Countable::Ladder(family));
        }
        if options.own.is_some() {
            return Err(Error::Usage(format!("--own: {name} has no ladder; name the kernel's family")));
        }
        if let Some(experiment) = experiment(name) {
            return Ok(Countable::Trials(experiment));
        }
        // Kernels of experiments and probes too, though nobody is told.
        kernels::family(name).map(Countable::Ladder).ok_or_else(|| {
            let names = FAMILIES.iter().map(|f| f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
            Error::Usage(words::unknown("family or experiment", name, &names.collect::<Vec<_>>()))
        })
    }

    fn cases(&self, options: &CountArgs, target: &Target, quiet: bool) -> Result<Vec<CountedTrial>, Error> {
        match self {
            Countable::Measured(rows) => Ok(small(rows, target)),
            Countable::Ladder(family) => ladder(family, options, target),
            Countable::Trials(experiment) => trials(experiment, options, target, quiet),
        }
    }
}

/// The rows of a file of ladders.
fn measured(path: &Path) -> Result<Vec<Row>, Error> {
    let name = path.display().to_string();
    let text = files::read(path).map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
    match recorded(&text, &name)?.0 {
        Recorded::Rows(rows) if rows.iter().any(|row| why::case_of(row).is_some()) => Ok(rows),
        _ => Err(Error::Usage(format!("--of {name}: it holds no rows of a ladder, as --csv writes them"))),
    }
}

/// The two small cases of each kernel and its settings that were measured.
pub(super) fn small(rows: &[Row], target: &Target) -> Vec<CountedTrial> {
    let mut all: Vec<CountedTrial> = Vec::new();
    for row in rows.iter().filter(|row| row.status == Status::Ok && row.repeats().is_none()) {
        let Some(cases) = why::case_of(row).and_then(|case| small_cases(&case, case.wg)) else { continue };
        let found = kernels::family(&row.family).and_then(|family| Some((family, family.rung(&row.variant)?)));
        let Some((family, rung)) = found else { continue };
        for case in cases.into_iter().filter(|case| !all.iter().any(|known| known.case == *case)).collect::<Vec<_>>() {
            let remark = remark(family, rung, &case, target);
            all.push(CountedTrial { case, rung, remark, trial: None, large: None });
        }
    }
    // Each problem's cases are one table.
    all.sort_by_key(|one| (one.case.family.clone(), one.case.dtype.name(), one.case.shape.n));
    all
}

/// The rungs that the options name, in the ladder's order; with the reader's own kernel, if there is one.
fn rungs(family: &'static Family, options: &CountArgs) -> Result<Vec<&'static Rung>, Error> {
    own::rungs(family, options.own.as_deref(), options.variant.as_deref()).map(|(_, rungs)| rungs)
}

/// Refuses what can be seen before anything is started.
fn check_ladder(family: &'static Family, options: &CountArgs, quiet: bool) -> Result<(), Error> {
    bench::check_dtype(family, options.dtype.unwrap_or(family.dtypes[0]))?;
    let rungs = rungs(family, options)?;
    bench::check_sources(&rungs, options.cl_dir.as_deref(), quiet)?;
    let shape = shape(family, options)?;
    if shape.n == 0 || shape.m == 0 {
        return Err(Error::Usage("no elements, so no launch to count: choose a larger --n".into()));
    }
    let params = Params::new();
    if options.lines && is_large(family.form, shape) {
        let why = "--lines needs cases that the simulator runs whole; choose a smaller --n";
        return Err(Error::Usage(why.into()));
    }
    let input = Input { family, shape, dtype: options.dtype.unwrap_or(family.dtypes[0]), params: &params };
    input.check_host(input.bytes()?)?;
    settings(family, &rungs, options).map(drop)
}

/// Small, so that a simulator gets through all rungs in seconds.
fn usual_size(form: Form) -> u64 {
    match form {
        Form::Vector => 1 << 14,
        Form::Matrix => 128,
        Form::Square => 64,
    }
}

/// Whether a simulator would take minutes for a case of this shape.
fn is_large(form: Form, shape: Shape) -> bool {
    let most = if form == Form::Square { 160 } else { 1 << 18 };
    let size = if form == Form::Square { shape.n } else { shape.elements() };
    size > most
}

fn shape(family: &Family, options: &CountArgs) -> Result<Shape, Error> {
    bench::shape(family, options.n, options.m, family.usual_shape(usual_size(family.form), true))
}

/// The settings that were given, each with its one value.
fn settings(family: &'static Family, rungs: &[&'static Rung], options: &CountArgs) -> Result<Params, Error> {
    let op = options.op.iter().map(|op| format!("op={op}"));
    let texts: Vec<String> = options.set.iter().cloned().chain(op).collect();
    bench::single_settings(family, rungs, &texts)
}

fn ladder(family: &'static Family, options: &CountArgs, target: &Target) -> Result<Vec<CountedTrial>, Error> {
    let rungs = rungs(family, options)?;
    let case = Case {
        family: family.name.into(),
        variant: String::new(),
        dtype: options.dtype.unwrap_or(family.dtypes[0]),
        shape: shape(family, options)?,
        wg: WORK_GROUP,
        params: settings(family, &rungs, options)?,
        seed: options.seed,
    };
    let wg = |rung| options.wg.or(declared_work_group(rung)).unwrap_or(WORK_GROUP);
    let counted = |rung| of_rung(family, rung, &Case { wg: wg(rung), ..case.clone() }, target);
    Ok(rungs.into_iter().map(counted).collect())
}

/// A case of a rung, which takes those of the settings that it reads.
fn of_rung(family: &'static Family, rung: &'static Rung, case: &Case, target: &Target) -> CountedTrial {
    let is_read = |name: &String| family.choices.iter().chain(rung.tunables).any(|t| t.name == name);
    let params = case.params.clone().into_iter().filter(|(name, _)| is_read(name)).collect();
    let case = Case { variant: rung.variant().into(), params, ..case.clone() };
    let mut remark = remark(family, rung, &case, target);
    let is_large = is_large(family.form, case.shape);
    if is_large && family.is_described() && remark.is_ok() {
        // Nobody knows how the work of a reader's kernel grows.
        let why = format!("n={} is too large for the simulator: choose a smaller --n", case.shape.n);
        remark = Err(Stop::new(Status::Skipped, why));
    }
    let large = is_large.then(|| family.plan(rung, &case, target).ok()).flatten();
    CountedTrial { case, rung, remark, trial: None, large }
}

/// Counts a reader's kernel as it was asked for, and rungs of its family, over as few elements as `gpulab count` does.
///
/// # Errors
/// No simulator, or an interrupt.
pub(super) fn beside(
    (family, own): (&'static Family, &'static Rung),
    rungs: &[&'static Rung],
    asked: &Case,
    (deadline, quiet): (Duration, bool),
) -> Result<Vec<CountRow>, Error> {
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let mut worker = open(&simulator, LockstepModel::USUAL, None, deadline)?;
    let small = Case { shape: family.form.shape(usual_size(family.form), None), ..asked.clone() };
    let others = Case { wg: WORK_GROUP, ..small.clone() };
    let cases: Vec<CountedTrial> = std::iter::once((own, &small))
        .chain(rungs.iter().map(|rung| (*rung, &others)))
        .map(|(rung, case)| of_rung(family, rung, case, worker.target()))
        .collect();
    let version = &simulator.version;
    let mut counting =
        Counting { lines: false, quiet, simulator: version, model: LockstepModel::USUAL, rows: Vec::new() };
    counting.run(&mut worker, &cases, &mut |_| {})?;
    Ok(counting.rows)
}

/// What is to be known of a case's counts, or why it is not counted.
fn remark(family: &Family, rung: &Rung, case: &Case, target: &Target) -> Result<&'static str, Stop> {
    let plan = family.plan(rung, case, target)?;
    if plan.buffers.iter().any(|spec| matches!(spec.role, Role::Image { .. })) {
        let why = "it reads images, which are not counted: the simulator's are not always right";
        return Err(Stop::new(Status::Skipped, why));
    }
    let is_alone = plan.defines.iter().any(|(name, _)| name == "LOCKSTEP_ALONE");
    Ok(if is_alone { "counted with barriers in place of sub-groups, which the simulator lacks" } else { "" })
}

/// An experiment's trials, cut down; what goes on between host and device has no kernel to count.
fn trials(
    experiment: &'static Experiment,
    options: &CountArgs,
    target: &Target,
    quiet: bool,
) -> Result<Vec<CountedTrial>, Error> {
    let mut all: Vec<CountedTrial> = Vec::new();
    for trial in experiment.plan(&Scope { target, quick: true, seed: options.seed }) {
        if exchange(&trial.case.family).is_some() {
            continue;
        }
        let found = kernels::family(&trial.case.family).and_then(|f| Some((f, f.rung(&trial.case.variant)?)));
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
            all.push(CountedTrial { case, rung, remark, trial, large: None });
        }
    }
    if all.is_empty() {
        let why = "measures work between host and device: it has no kernel to count";
        return Err(Error::Usage(format!("{} {why}", experiment.name)));
    }
    let rungs: Vec<&'static Rung> = all.iter().map(|one| one.rung).collect();
    bench::check_sources(&rungs, options.cl_dir.as_deref(), quiet)?;
    Ok(all)
}

/// Refuses options that an experiment's trials leave no room for.
fn check_trials(options: &CountArgs) -> Result<(), Error> {
    let refused = [
        ("--variant", options.variant.is_some()),
        ("--m", options.m.is_some()),
        ("--dtype", options.dtype.is_some()),
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

/// A run under way.
pub(super) struct Counting<'a> {
    /// Whether lines of the sources get rows, too.
    pub(super) lines: bool,
    pub(super) quiet: bool,
    pub(super) simulator: &'a str,
    pub(super) model: LockstepModel,
    pub(super) rows: Vec<CountRow>,
}

impl Counting<'_> {
    /// Counts the cases; each row that files get is handed on at once.
    pub(super) fn run(
        &mut self,
        worker: &mut CountingWorker,
        cases: &[CountedTrial],
        write: &mut dyn FnMut(&CountRow),
    ) -> Result<(), Error> {
        let run = Run::begin();
        let mut observer = StatusLine::with_bar(self.quiet);
        for (at, CountedTrial { case, rung, remark, trial, large }) in cases.iter().enumerate() {
            if interrupt::interrupted() {
                return Err(Error::Interrupted);
            }
            observer.case_started(at, cases.len(), &format!("{} {}", case.family, rung.label()));
            let trial = trial.as_ref().map(|(name, series, x)| (*name, series.as_str(), *x));
            let (simulator, model, rung) = (self.simulator, self.model, rung.number());
            let note = remark.as_ref().copied().unwrap_or_default();
            let subject = CountSubject { run: &run, simulator, model, case, rung, trial, note };
            let counted = match (remark, large) {
                (Err(stop), _) => Err(stop.clone()),
                (Ok(_), None) => worker.count(case)?.map(|counted| CountRow::of(&subject, &counted)),
                (Ok(_), Some(plan)) => count_large(worker, subject, plan)?,
            };
            observer.case_done(counted.as_ref().map_or_else(|stop| stop.status, |_| Status::Ok), None);
            let rows = counted.unwrap_or_else(|stop| vec![CountRow::stopped(&subject, &stop)]);
            let is_written = |row: &&CountRow| self.lines || row.line.is_none();
            rows.iter().filter(is_written).for_each(&mut *write);
            self.rows.extend(rows);
        }
        Ok(())
    }
}

/// The rows of a large case's launches, by counts of two small ones.
fn count_large(
    worker: &mut CountingWorker,
    subject: CountSubject<'_>,
    plan: &Plan,
) -> Result<Result<Vec<CountRow>, Stop>, Error> {
    let none =
        || Stop::new(Status::Skipped, "its counts do not follow from those of small cases; choose a smaller --n");
    let Some(cases) = small_cases(subject.case, plan.wg) else { return Ok(Err(none())) };
    let mut counted = Vec::new();
    for case in &cases {
        match worker.count(case)? {
            Ok(small) => counted.extend(CountRow::of(&CountSubject { case, ..subject }, &small)),
            Err(stop) => return Ok(Err(stop)),
        }
    }
    let [small, large] = cases.map(|case| case.shape.n);
    let finishes = plan.passes.iter().any(|pass| pass.kernel.ends_with("_finish"));
    let few = if finishes { ", its finishing launch as of few groups" } else { "" };
    let how = format!("by the groups of n={small} and n={large}, without edges{few}, as the simulator is slow");
    let reason = if subject.note.is_empty() { how } else { format!("{}; {how}", subject.note) };
    let whole = |row: CountRow| CountRow { reason: reason.clone(), ..row };
    let rows = stretched(subject.case, plan, &counted);
    Ok(rows.map(|rows| rows.into_iter().map(whole).collect()).ok_or_else(none))
}

/// The text of a line of a kernel's source.
pub(super) fn source_line(sources: &Sources, file: &str, line: u64) -> Option<String> {
    let at = usize::try_from(line.checked_sub(1)?).ok()?;
    sources.read(file).ok()?.lines().nth(at).map(str::to_owned)
}

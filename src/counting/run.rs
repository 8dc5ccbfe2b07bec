//! A run of the simulator: cases small enough for it, and the rows of their counts.

use crate::bench::{self, WORK_GROUP};
use crate::count::{CountSubject, LockstepModel, small_cases, stretched};
use crate::plan::{Plan, Role, Target};
use crate::prelude::*;
use crate::report::progress::{Observer, StatusLine};
use crate::simulator::{CountingWorker, Simulator};
use crate::{ceilings, why};

/// Starts a worker in the simulator, where each case may take so long.
pub(crate) fn open(
    registry: &Registry,
    simulator: &Simulator,
    model: LockstepModel,
    cl_dir: Option<&Path>,
    deadline: Duration,
) -> Result<CountingWorker, Error> {
    let setup = Setup { cl_dir: cl_dir.map(Path::to_path_buf), ..Setup::of(registry) };
    CountingWorker::open(simulator, model, setup, deadline, None, (interrupt::interrupted, say))
}

pub(crate) struct CountedTrial<'a> {
    pub(crate) case: Case,
    pub(crate) family: &'a Family,
    pub(crate) rung: &'a Rung,
    /// What is to be known of its counts; or why there are none.
    pub(crate) note: Result<&'static str, Stop>,
    pub(crate) trial: Option<(&'static str, String, f64)>,
    /// Of a case that is too large for a simulator, what it launches: its counts follow from those of small cases.
    pub(crate) large: Option<Plan>,
}

/// The two small cases of each kernel and its settings that were measured.
pub(crate) fn small<'a>(registry: &'a Registry, rows: &[Row], target: &Target) -> Vec<CountedTrial<'a>> {
    let mut all: Vec<CountedTrial<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.status == Status::Ok && row.repeats().is_none()) {
        let found = registry.family(&row.family).and_then(|family| Some((family, family.rung(&row.variant)?)));
        let Some((family, rung)) = found else { continue };
        let case = why::case_of(registry, row);
        let Some(cases) = case.and_then(|case| small_cases(family, &case, case.wg, target)) else { continue };
        for case in cases.into_iter().filter(|case| !all.iter().any(|known| known.case == *case)).collect::<Vec<_>>() {
            let note = note(family, rung, &case, target);
            all.push(CountedTrial { case, family, rung, note, trial: None, large: None });
        }
    }
    // Each problem's cases are one table.
    all.sort_by_key(|one| (one.case.family.clone(), one.case.dtype.name(), one.case.shape.n));
    all
}

/// Small, so that a simulator gets through all rungs in seconds.
pub(crate) fn usual_size(form: Form) -> u64 {
    match form {
        Form::Vector => 1 << 14,
        Form::Matrix => 128,
        Form::Square => 64,
    }
}

/// Whether a simulator would take minutes for a case of this shape. Where partitions are counted, which follows from no small
/// case, a vector or matrix may take them.
pub(crate) fn is_large(form: Form, shape: Shape, model: LockstepModel) -> bool {
    let most = match form {
        Form::Square => 160,
        Form::Vector | Form::Matrix if model.partitions > 0 => 1 << 22,
        Form::Vector | Form::Matrix => 1 << 18,
    };
    let size = if form == Form::Square { shape.n } else { shape.elements() };
    size > most
}

/// A case of a rung, which takes those of the settings that it reads.
pub(crate) fn of_rung<'a>(
    family: &'a Family,
    rung: &'a Rung,
    case: &Case,
    target: &Target,
    model: LockstepModel,
) -> CountedTrial<'a> {
    let is_read = |name: &String| family.choices.iter().copied().chain(rung.tunables()).any(|t| t.name == name);
    let params = case.params.clone().into_iter().filter(|(name, _)| is_read(name)).collect();
    let case = Case { variant: rung.variant().into(), params, ..case.clone() };
    let mut note = note(family, rung, &case, target);
    let is_large = is_large(family.form, case.shape, model);
    if is_large && family.described().is_some() && note.is_ok() {
        // Nobody knows how the work of a reader's kernel grows.
        let why = format!("n={} is too large for the simulator: choose a smaller --n", case.shape.n);
        note = Err(Stop::new(Status::Skipped, why));
    }
    let large = is_large.then(|| family.plan(rung, &case, target).ok()).flatten();
    CountedTrial { case, family, rung, note, trial: None, large }
}

/// Counts a reader's kernel as it was asked for, and rungs of its family, over as few elements as `gpulab count` does.
pub(crate) fn beside(
    registry: &Registry,
    (family, own): (&Family, &Rung),
    rungs: &[&Rung],
    asked: &Case,
    (deadline, quiet): (Duration, bool),
) -> Result<Vec<CountRow>, Error> {
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let mut worker = open(registry, &simulator, LockstepModel::USUAL, None, deadline)?;
    let small = Case { shape: family.form.shape(usual_size(family.form), None), ..asked.clone() };
    let others = Case { wg: WORK_GROUP, ..small.clone() };
    let cases: Vec<CountedTrial<'_>> = std::iter::once((own, &small))
        .chain(rungs.iter().map(|rung| (*rung, &others)))
        .map(|(rung, case)| of_rung(family, rung, case, worker.target(), LockstepModel::USUAL))
        .collect();
    let version = &simulator.version;
    let mut counting =
        Counting { lines: false, quiet, simulator: version, model: LockstepModel::USUAL, rows: Vec::new() };
    counting.run(&mut worker, &cases, &mut |_| {})?;
    Ok(counting.rows)
}

/// What is to be known of a case's counts, or why it is not counted.
pub(crate) fn note(family: &Family, rung: &Rung, case: &Case, target: &Target) -> Result<&'static str, Stop> {
    let plan = family.plan(rung, case, target)?;
    let has_image = plan.buffers.iter().any(|spec| matches!(spec.role, Role::Image { .. }));
    Ok(if has_image { "pixels are counted as if images lay row by row; GPUs keep them in tiles" } else { "" })
}

/// A run under way.
pub(crate) struct Counting<'a> {
    /// Whether lines of the sources get rows, too.
    pub(crate) lines: bool,
    pub(crate) quiet: bool,
    pub(crate) simulator: &'a str,
    pub(crate) model: LockstepModel,
    pub(crate) rows: Vec<CountRow>,
}

impl Counting<'_> {
    /// Counts the cases; each row that files get is handed on at once.
    pub(crate) fn run(
        &mut self,
        worker: &mut CountingWorker,
        cases: &[CountedTrial<'_>],
        write: &mut dyn FnMut(&CountRow),
    ) -> Result<(), Error> {
        let run = Run::begin();
        let mut observer = StatusLine::with_bar(self.quiet);
        for (at, CountedTrial { case, family, rung, note: known, trial, large }) in cases.iter().enumerate() {
            bench::go_on()?;
            observer.case_started(at, cases.len(), &format!("{} {}", case.family, rung.label()));
            let trial = trial.as_ref().map(|(name, series, x)| (*name, series.as_str(), *x));
            let simulator = self.simulator;
            let model = self.model;
            let rung = rung.number();
            let note = known.as_ref().copied().unwrap_or_default();
            let subject = CountSubject { run: &run, simulator, model, case, rung, trial, note };
            let counted = match (known, large) {
                (Err(stop), _) => Err(stop.clone()),
                (Ok(_), None) => worker.count(case)?.map(|counted| CountRow::of(&subject, &counted)),
                (Ok(_), Some(plan)) => count_large(worker, family, subject, plan)?,
            };
            observer.case_done(counted.as_ref().map_or_else(|stop| stop.status, |_| Status::Ok), None);
            let rows = counted.unwrap_or_else(|stop| vec![CountRow::stopped(&subject, &stop)]);
            rows.iter().filter(|row: &&CountRow| self.lines || row.line.is_none()).for_each(&mut *write);
            self.rows.extend(rows);
        }
        Ok(())
    }
}

/// The rows of a large case's launches, by counts of two small ones.
fn count_large(
    worker: &mut CountingWorker,
    family: &Family,
    subject: CountSubject<'_>,
    plan: &Plan,
) -> Result<Result<Vec<CountRow>, Stop>, Error> {
    let none =
        || Stop::new(Status::Skipped, "its counts do not follow from those of small cases; choose a smaller --n");
    let Some(cases) = small_cases(family, subject.case, plan.wg, worker.target()) else { return Ok(Err(none())) };
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
    let rows = stretched(family.form, subject.case, plan, &counted);
    Ok(rows
        .map(|rows| rows.into_iter().map(|row: CountRow| CountRow { reason: reason.clone(), ..row }).collect())
        .ok_or_else(none))
}

pub(crate) fn source_line(sources: &Sources, file: &str, line: u64) -> Option<String> {
    let at = usize::try_from(line.checked_sub(1)?).ok()?;
    sources.read(file).ok()?.lines().nth(at).map(str::to_owned)
}

//! Kernels counted in the simulator, for whoever asks: `count`, `try`, `asm`, `draw` and `--why`.

use crate::bench::{self, WORK_GROUP};
use crate::commands::show::records::kept_of;
use crate::count::{CountRow, CountSubject, LockstepModel, small_cases, stretched};
use crate::data::Shape;
use crate::exchange::exchange;
use crate::experiments::{Experiment, Scope, Trial};
use crate::kernels::{self, Family, Form, Registry, Rung, Sources};
use crate::outcome::{Status, Stop};
use crate::plan::{Case, Plan, REPEATS, Role, Target};
use crate::record::{Row, Run};
use crate::report::progress::StatusLine;
use crate::simulator::{CountingWorker, Simulator};
use crate::store::of_csv;
use crate::terminal::say;
use crate::why::{DeviceRates, LadderReasons, Payoffs, case_of, is_counted_of, reasons};
use crate::worker::Setup;
use crate::{Error, Result, ceilings, interrupt, usage_error};
use std::path::Path;
use std::slice::from_ref;
use std::time::Duration;

/// Most times, by default, that a kernel of an experiment repeats its work inside.
const FEW_REPEATS: u64 = 2;

/// A worker in the simulator, and the machine that it counts for.
pub struct Counter {
    pub worker: CountingWorker,
    /// As in `Oclgrind 21.10`.
    simulator: String,
    model: LockstepModel,
    quiet: bool,
}

impl Counter {
    /// Starts a worker, where each case may take so long.
    pub fn open(
        registry: &Registry,
        model: LockstepModel,
        cl_dir: Option<&Path>,
        deadline: Duration,
        quiet: bool,
    ) -> Result<Counter> {
        let simulator = Simulator::prepare(&ceilings::folder()?)?;
        let setup = Setup {
            cl_dir: cl_dir.map(Path::to_path_buf),
            ..Setup::of(registry)
        };
        let worker = CountingWorker::open(
            &simulator,
            model,
            setup,
            deadline,
            None,
            (interrupt::interrupted, say),
        )?;
        Ok(Counter {
            worker,
            simulator: simulator.version,
            model,
            quiet,
        })
    }

    /// Counts the cases; each row is handed on at once.
    pub fn count(
        &mut self,
        cases: &[CountedTrial<'_>],
        take: &mut dyn FnMut(CountRow),
    ) -> Result<()> {
        let run = Run::begin();
        let mut observer = StatusLine::new(self.quiet);
        for (
            at,
            CountedTrial {
                case,
                family,
                rung,
                note: known,
                trial,
                large,
            },
        ) in cases.iter().enumerate()
        {
            bench::go_on()?;
            observer.case_started(
                at,
                cases.len(),
                &format!("{} {}", case.family, rung.label()),
            );
            let subject = CountSubject {
                run: &run,
                simulator: &self.simulator,
                model: self.model,
                case,
                rung: rung.number(),
                trial: trial
                    .as_ref()
                    .map(|(name, series, x)| (*name, series.as_str(), *x)),
                note: known.as_ref().copied().unwrap_or_default(),
            };
            let counted = match (known, large) {
                (Err(stop), _) => Err(stop.clone()),
                (Ok(_), None) => self
                    .worker
                    .count(case)?
                    .map(|counted| CountRow::of(&subject, &counted)),
                (Ok(_), Some(plan)) => count_large(&mut self.worker, family, subject, plan)?,
            };
            observer.case_done(
                counted
                    .as_ref()
                    .map_or_else(|stop| stop.status, |_| Status::Ok),
                None,
            );
            counted
                .unwrap_or_else(|stop| vec![CountRow::stopped(&subject, &stop)])
                .into_iter()
                .for_each(&mut *take);
        }
        Ok(())
    }

    /// The rows of all cases.
    fn rows(&mut self, cases: &[CountedTrial<'_>]) -> Result<Vec<CountRow>> {
        let mut rows = Vec::new();
        self.count(cases, &mut |row| rows.push(row))?;
        Ok(rows)
    }
}

pub struct CountedTrial<'a> {
    pub case: Case,
    pub family: &'a Family,
    pub rung: &'a Rung,
    /// What is to be known of its counts; or why there are none.
    pub note: Result<&'static str, Stop>,
    pub trial: Option<(&'static str, String, f64)>,
    /// Of a case that is too large for a simulator, what it launches: its counts follow from those of small cases.
    pub large: Option<Plan>,
}

/// The two small cases of each kernel and its settings that were measured.
pub fn small<'a>(registry: &'a Registry, rows: &[Row], target: &Target) -> Vec<CountedTrial<'a>> {
    let mut all: Vec<CountedTrial<'_>> = Vec::new();
    for row in rows
        .iter()
        .filter(|row| row.status == Status::Ok && row.repeats().is_none())
    {
        let found = registry
            .family(&row.family)
            .and_then(|family| Some((family, family.rung(&row.variant)?)));
        let Some((family, rung)) = found else {
            continue;
        };
        let case = case_of(registry, row);
        let Some(cases) = case.and_then(|case| small_cases(family, &case, case.wg, target)) else {
            continue;
        };
        for case in cases
            .into_iter()
            .filter(|case| !all.iter().any(|known| known.case == *case))
            .collect::<Vec<_>>()
        {
            let note = note(family, rung, &case, target);
            all.push(CountedTrial {
                case,
                family,
                rung,
                note,
                trial: None,
                large: None,
            });
        }
    }
    // Each problem's cases are one table.
    all.sort_by_key(|one| {
        (
            one.case.family.clone(),
            one.case.dtype.name(),
            one.case.shape.n,
        )
    });
    all
}

/// Small, so that a simulator gets through all rungs in seconds.
pub fn usual_size(form: Form) -> u64 {
    match form {
        Form::Vector => 1 << 14,
        Form::Matrix => 128,
        Form::Square => 64,
    }
}

/// Whether a simulator would take minutes for a case of this shape. Where partitions are counted, which follows from no small
/// case, a vector or matrix may take them.
pub fn is_large(form: Form, shape: Shape, model: LockstepModel) -> bool {
    let most = match form {
        Form::Square => 160,
        Form::Vector | Form::Matrix if model.partitions > 0 => 1 << 22,
        Form::Vector | Form::Matrix => 1 << 18,
    };
    let size = if form == Form::Square {
        shape.n
    } else {
        shape.elements()
    };
    size > most
}

/// A case of a rung, which takes those of the settings that it reads.
pub fn of_rung<'a>(
    family: &'a Family,
    rung: &'a Rung,
    case: &Case,
    target: &Target,
    model: LockstepModel,
) -> CountedTrial<'a> {
    let mut params = case.params.clone();
    params.retain(|name, _| {
        family
            .choices
            .iter()
            .copied()
            .chain(rung.tunables())
            .any(|t| t.name == name)
    });
    let case = Case {
        variant: rung.variant().into(),
        params,
        ..case.clone()
    };
    let mut note = note(family, rung, &case, target);
    let is_large = is_large(family.form, case.shape, model);
    if is_large && family.described().is_some() && note.is_ok() {
        // Nobody knows how the work of a reader's kernel grows.
        let why = format!(
            "n={} is too large for the simulator: choose a smaller --n",
            case.shape.n
        );
        note = Err(Stop::new(Status::Skipped, why));
    }
    let large = is_large
        .then(|| family.plan(rung, &case, target).ok())
        .flatten();
    CountedTrial {
        case,
        family,
        rung,
        note,
        trial: None,
        large,
    }
}

/// Counts a reader's kernel as it was asked for, and rungs of its family, over as few elements as `gpulab count` does.
pub fn beside(
    registry: &Registry,
    (family, own): (&Family, &Rung),
    rungs: &[&Rung],
    asked: &Case,
    (deadline, quiet): (Duration, bool),
) -> Result<Vec<CountRow>> {
    let mut counter = Counter::open(registry, LockstepModel::USUAL, None, deadline, quiet)?;
    let small = Case {
        shape: family.form.shape(usual_size(family.form), None),
        ..asked.clone()
    };
    let others = Case {
        wg: WORK_GROUP,
        ..small.clone()
    };
    let cases: Vec<CountedTrial<'_>> = std::iter::once((own, &small))
        .chain(rungs.iter().map(|rung| (*rung, &others)))
        .map(|(rung, case)| {
            of_rung(
                family,
                rung,
                case,
                counter.worker.target(),
                LockstepModel::USUAL,
            )
        })
        .collect();
    counter.rows(&cases)
}

/// What is to be known of a case's counts, or why it is not counted.
fn note(family: &Family, rung: &Rung, case: &Case, target: &Target) -> Result<&'static str, Stop> {
    let plan = family.plan(rung, case, target)?;
    let has_image = plan
        .buffers
        .iter()
        .any(|spec| matches!(spec.role, Role::Image { .. }));
    Ok(if has_image {
        "pixels are counted as if images lay row by row; GPUs keep them in tiles"
    } else {
        ""
    })
}

/// The rows of a large case's launches, by counts of two small ones.
fn count_large(
    worker: &mut CountingWorker,
    family: &Family,
    subject: CountSubject<'_>,
    plan: &Plan,
) -> Result<Result<Vec<CountRow>, Stop>> {
    let none = Stop::new(
        Status::Skipped,
        "its counts do not follow from those of small cases; choose a smaller --n",
    );
    let Some(cases) = small_cases(family, subject.case, plan.wg, worker.target()) else {
        return Ok(Err(none));
    };
    let mut counted = Vec::new();
    for case in &cases {
        match worker.count(case)? {
            Ok(small) => counted.extend(CountRow::of(&CountSubject { case, ..subject }, &small)),
            Err(stop) => return Ok(Err(stop)),
        }
    }
    let [small, large] = cases.map(|case| case.shape.n);
    let finishes = plan
        .passes
        .iter()
        .any(|pass| pass.kernel.ends_with("_finish"));
    let few = if finishes {
        ", its finishing launch as of few groups"
    } else {
        ""
    };
    let how = format!(
        "by the groups of n={small} and n={large}, without edges{few}, as the simulator is slow"
    );
    let reason = if subject.note.is_empty() {
        how
    } else {
        format!("{}; {how}", subject.note)
    };
    let rows = stretched(family.form, subject.case, plan, &counted);
    Ok(rows
        .map(|rows| {
            rows.into_iter()
                .map(|row: CountRow| CountRow {
                    reason: reason.clone(),
                    ..row
                })
                .collect()
        })
        .ok_or(none))
}

pub fn source_line(sources: &Sources, file: &str, line: u64) -> Option<String> {
    let at = usize::try_from(line.checked_sub(1)?).ok()?;
    sources.read(file).ok()?.lines().nth(at).map(str::to_owned)
}

/// An experiment's trials, cut down to `n` elements or the usual number; what goes on between host and device has no kernel to
/// count.
pub fn trials(
    experiment: &'static Experiment,
    n: Option<u64>,
    seed: u64,
    target: &Target,
) -> Result<Vec<CountedTrial<'static>>> {
    let mut all: Vec<CountedTrial<'_>> = Vec::new();
    for trial in experiment.plan(&Scope {
        target,
        quick: true,
        seed,
    }) {
        if exchange(&trial.case.family).is_some() {
            continue;
        }
        let found = kernels::built_in(&trial.case.family)
            .and_then(|f| Some((f, f.rung(&trial.case.variant)?)));
        let (family, rung) = found.ok_or_else(|| {
            Error::Failed(format!(
                "{}: its plan names a kernel that does not exist",
                experiment.name
            ))
        })?;
        let cut = cut_down(&trial, family, rung, n, target);
        let (case, note) = match cut {
            Ok(case) => (case.clone(), note(family, rung, &case, target)),
            Err(stop) => (trial.case.clone(), Err(stop)),
        };
        // What one run tells twice, as a rate and as registers, is counted once.
        if all.iter().all(|known| known.case != case) {
            let trial = Some((experiment.name, trial.series, trial.x));
            all.push(CountedTrial {
                case,
                family,
                rung,
                note,
                trial,
                large: None,
            });
        }
    }
    if all.is_empty() {
        let why = "measures work between host and device: it has no kernel to count";
        return usage_error(format!("{} {why}", experiment.name));
    }
    Ok(all)
}

/// The trial's case over as few elements as the kernel takes, from the size that was asked for on.
fn cut_down(
    trial: &Trial,
    family: &Family,
    rung: &Rung,
    n: Option<u64>,
    target: &Target,
) -> Result<Case, Stop> {
    let usual = if family.form == Form::Vector {
        1 << 12
    } else {
        usual_size(family.form)
    };
    let least = n.unwrap_or(usual);
    let whole = trial.case.shape;
    let mut case = trial.case.clone();
    if let Some(repeats) = case.params.get_mut(REPEATS) {
        *repeats = repeats
            .parse::<u64>()
            .unwrap_or(1)
            .min(FEW_REPEATS)
            .to_string();
    }
    if whole.n > least && trial.x == whole.n as f64 {
        let why = format!(
            "n={} is large for a simulator; --n {} counts it",
            whole.n, whole.n
        );
        return Err(Stop::new(Status::Skipped, why));
    }
    let sizes =
        std::iter::successors(Some(least), |n| n.checked_mul(2)).take_while(|&n| n < whole.n);
    for n in sizes {
        let wg = case.wg.size() as u64;
        let n = if whole.n.is_multiple_of(wg) {
            (n / wg).max(1) * wg
        } else {
            n
        };
        let cut = Case {
            shape: Shape {
                n: n.min(whole.n),
                m: whole.m.min(n),
            },
            ..case.clone()
        };
        if family.plan(rung, &cut, target).is_ok() {
            return Ok(cut);
        }
    }
    Ok(case)
}

/// Counts of the recorded ladders' kernels and settings: what `gpulab count --of` writes of them.
const SHIPPED: &[u8] = include_bytes!("../../../data/counts.csv");

/// The same by line, of what GPUs ran: what `scripts/count_lines` writes.
const SHIPPED_LINES: &[u8] = include_bytes!("../../../data/counts_lines.csv");

pub fn shipped_counts() -> Result<Vec<CountRow>> {
    let mut counts: Vec<CountRow> = of_csv(SHIPPED, "data/counts.csv")?.0;
    counts.append(&mut of_csv(SHIPPED_LINES, "data/counts_lines.csv")?.0);
    Ok(counts)
}

/// Longest that a case which was asked for may be counted.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Counts of these rows' kernels: those that come with gpulab, and of other settings, or of the user's own kernels, those that
/// the simulator gives now, if it is there.
pub fn counts(
    registry: &Registry,
    rows: &[Row],
    cl_dir: Option<&Path>,
    (limit, quiet): (Duration, bool),
) -> Result<Vec<CountRow>> {
    let mut counts = if cl_dir.is_some() {
        Vec::new()
    } else {
        shipped_counts()?
    };
    let mut missing = rows.to_vec();
    missing.retain(|row| {
        case_of(registry, row).is_some() && !counts.iter().any(|count| is_counted_of(count, row))
    });
    if missing.is_empty() {
        return Ok(counts);
    }
    match Counter::open(registry, LockstepModel::USUAL, cl_dir, limit, quiet) {
        Ok(mut counter) => {
            let cases = small(registry, &missing, counter.worker.target());
            counts.append(&mut counter.rows(&cases)?);
        }
        Err(_) if quiet => {}
        Err(error) => say(&format!(
            "not all rungs are counted with these settings; {error}"
        )),
    }
    Ok(counts)
}

/// The reasons of a ladder's rows; or which limit of the device is not known.
pub fn reasons_of(
    registry: &Registry,
    rows: &[Row],
    quiet: bool,
) -> Result<Result<LadderReasons, String>> {
    let Some(row) = rows.first() else {
        return Ok(Err("a rung".to_owned()));
    };
    match DeviceRates::new(&kept_of(row), !row.is_on_cpu_device()) {
        Ok(rates) => Ok(Ok(reasons(
            registry,
            rows,
            &counts(registry, rows, None, (PATIENCE, quiet))?,
            &rates,
        ))),
        Err(missing) => Ok(Err(missing.to_owned())),
    }
}

/// What would pay most of a kernel: by the model where the limits of its GPU are kept, otherwise by the counts of this case
/// alone.
pub fn payoffs(
    registry: &Registry,
    row: &Row,
    case: &[CountRow],
    quiet: bool,
) -> Result<Option<Payoffs>> {
    let why = if row.is_on_cpu_device() {
        None
    } else {
        reasons_of(registry, from_ref(row), quiet)?.ok()
    };
    Ok(why
        .and_then(|mut why| why.rungs.pop()?.payoffs)
        .or_else(|| Payoffs::of_case(case)))
}

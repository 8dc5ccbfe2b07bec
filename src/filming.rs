//! A kernel that is watched in the simulator: which one is meant, and what its warps did.

use crate::adopt::{Brought, is_exercise, is_family_file, line_of, parted};
use crate::cli::WatchedKernel;
use crate::count::TracedLaunch;
use crate::counting::{CountedTrial, is_large, trials, usual_size};
use crate::experiments::{EXPERIMENTS, Experiment, experiment};
use crate::kernels::ladders;
use crate::kernels::signature::CSource;
use crate::plan::{Pass, Plan, Refusal, Target};
use crate::prelude::*;
use crate::report::film::Film;
use crate::simulator::{CountingWorker, Simulator};
use crate::{bench, ceilings, suggest};

enum WatchedCase {
    /// A rung of a family, or a reader's kernel.
    Rung(Box<Brought>, Box<Rung>),
    /// A trial of an experiment: the one at `x`, or the last.
    Trial(&'static Experiment, Option<f64>),
}

struct WatchedRun {
    title: String,
    case: Case,
    plan: Plan,
    parameters: BTreeMap<String, Vec<String>>,
}

/// Runs the kernel that `what` names in the simulator, and keeps what its first groups did.
pub(crate) fn watch(what: &str, options: &WatchedKernel) -> Result<Film, Error> {
    let watched = WatchedCase::find(what, options)?;
    let registry = if let WatchedCase::Rung(brought, _) = &watched { &brought.registry } else { &Registry::default() };
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let model = options.machine.model();
    let deadline = Duration::from_secs_f64(options.deadline);
    let setup = Setup::of(registry);
    let mut worker =
        CountingWorker::open(&simulator, model, setup, deadline, Some(options.groups), (interrupt::interrupted, say))?;
    let WatchedRun { title, case, plan, parameters } = watched.run(options, worker.target())?;
    // An exercise has another name than its kernel has in its family.
    let title = if is_exercise(parted(what).0) { what.replacen(':', " ", 1) } else { title };
    let (counted, launches) = worker
        .trace(&case)?
        .map_err(|stop| Error::Failed(format!("{title} did not finish in the simulator: {}", stop.reason)))?;
    let text = if let WatchedCase::Rung(_, rung) = &watched { rung.text() } else { None };
    let sources = sources(&launches, text);
    Ok(Film { title, case, plan, parameters, model, counted, launches, sources })
}

impl WatchedCase {
    fn find(what: &str, options: &WatchedKernel) -> Result<WatchedCase, Error> {
        let (name, part) = parted(what);
        if options.family.is_none()
            && let Some(experiment) = experiment(name)
        {
            let x = part
                .map(str::parse)
                .transpose()
                .map_err(|_| Error::Usage(format!("{what}: behind the colon stands the varied parameter's value")))?;
            return Ok(WatchedCase::Trial(experiment, x));
        }
        let is_family = is_family_file(name) || ladders().any(|family| family.name == name);
        let is_kernel = name.ends_with(".cl") || is_exercise(name);
        if options.family.is_none() && !is_family && !is_kernel {
            let names = ladders().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
            return Err(Error::Usage(suggest::unknown("family or experiment", name, &names.collect::<Vec<_>>())));
        }
        let (brought, list) = Brought::of(what, options.family.as_deref())?;
        let rung = brought.rung(what, list.as_deref())?.clone();
        Ok(WatchedCase::Rung(brought.into(), rung.into()))
    }

    /// The case that is run, with what it launches.
    fn run(&self, options: &WatchedKernel, target: &Target) -> Result<WatchedRun, Error> {
        match self {
            WatchedCase::Rung(brought, rung) => {
                let family = &brought.family;
                let usual = family.usual_shape(usual_size(family.form), true);
                let case = bench::case(family, rung, &options.case, usual)?;
                let case = Case { seed: options.data.seed, ..case };
                if is_large(family.form, case.shape, options.machine.model()) {
                    let n = case.shape.n;
                    let few = usual.n;
                    let why = format!("n = {n} is more than a picture or a film shows: -n {few} shows the same");
                    return Err(Error::Usage(why));
                }
                let plan = family.plan(rung, &case, target).map_err(refused)?;
                let title = format!("{} {}", family.name, rung.label());
                Ok(WatchedRun { title, parameters: parameters(rung, &plan), case, plan })
            }
            WatchedCase::Trial(experiment, x) => {
                let all = trials(experiment, options.case.n, options.data.seed, target)?;
                let mut countable: Vec<&CountedTrial<'_>> = all.iter().filter(|one| one.note.is_ok()).collect();
                countable.retain(|one| one.trial.as_ref().is_some_and(|(.., at)| x.is_none_or(|x| x == *at)));
                // Without a value, the last one of the first series.
                let series = all.first().and_then(series_of);
                let first = countable.iter().rfind(|one| series_of(one) == series);
                let meant = first.or(countable.last()).ok_or_else(|| {
                    let xs = all.iter().filter_map(|one| Some(one.trial.as_ref()?.2.to_string()));
                    let mut xs: Vec<String> = xs.collect();
                    xs.dedup();
                    Error::Usage(format!("{} has no countable trial there: it has {}", experiment.name, xs.join(", ")))
                })?;
                let (name, series, x) = meant.trial.clone().unwrap_or_default();
                let plan = meant.family.plan(meant.rung, &meant.case, target).map_err(refused)?;
                let title = format!("{name} {series} at {x}");
                Ok(WatchedRun { title, parameters: parameters(meant.rung, &plan), case: meant.case.clone(), plan })
            }
        }
    }
}

fn series_of<'a>(one: &'a CountedTrial<'_>) -> Option<&'a String> {
    one.trial.as_ref().map(|(_, series, _)| series)
}

fn refused(refusal: Refusal) -> Error {
    Error::Usage(refusal.to_string())
}

/// The names of a rung's parameters, kernel by kernel.
fn parameters(rung: &Rung, plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let text = Sources::default().for_plan(rung, plan).unwrap_or_default();
    let source = CSource::new(&text, &plan.defines);
    plan.passes
        .iter()
        .filter_map(|pass: &Pass| {
            let all = source.parameters(&pass.kernel)?.into_iter().map(|parameter| parameter.name).collect();
            Some((pass.kernel.clone(), all))
        })
        .collect()
}

/// The lines of the files that steps name: of gpulab's own, or of a reader's text.
fn sources(launches: &[TracedLaunch], text: Option<&str>) -> BTreeMap<String, Vec<String>> {
    let mut files: BTreeMap<String, u64> = BTreeMap::new();
    for step in launches.iter().flat_map(|launch| &launch.steps) {
        let last = files.entry(step.file.clone()).or_default();
        *last = step.line.max(*last);
    }
    let files = files.into_iter().map(|(file, last)| {
        let lines = match (Sources::default().read(&file), text) {
            (Ok(text), _) => text.lines().map(str::to_owned).collect(),
            (Err(_), Some(text)) => (1..=last).map(|line| line_of(text, &file, line).unwrap_or_default()).collect(),
            (Err(_), None) => Vec::new(),
        };
        (file, lines)
    });
    files.collect()
}

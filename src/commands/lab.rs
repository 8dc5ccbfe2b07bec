//! `gpulab lab`: the experiments.

use crate::bench::{self, Jobs};
use crate::ceilings::Limits;
use crate::cli::Lab;
use crate::console;
use crate::experiments::Scope;
use crate::laboratory::{ExperimentRun, LabWork, Laboratory, Task, choose};
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::report::list::experiments;
use crate::report::progress::StatusLine;
use crate::runner::{FOR_LIMITS, Pace};
use crate::sweep;

/// What the data of a trial may come to, for its deadline: the device, and with it the plan, is not known yet when
/// deadlines are set.
const MOST_BYTES: u64 = 1 << 30;

/// Rounds of a quick run: two at least, so that what drifts meanwhile shows in the points' spread.
const QUICK_ROUNDS: u32 = 2;

/// Lists the experiments, or runs those that were asked for. What was measured before an error or an interrupt is
/// printed all the same.
pub fn run(out: &mut Out, global: &Global, options: &Lab) -> Result<(), Error> {
    let Some(name) = &options.name else { return out.text(&experiments("", console::width())) };
    let chosen = choose(name)?;
    if options.svg.is_some() && !chosen.iter().any(|e| e.has_timeline()) {
        return Err(Error::Usage(format!("--svg: {name} has no timeline to draw; overlap has one")));
    }
    let outputs = Outputs::open(&Paths { svg: options.svg.as_deref(), ..Paths::from(&options.rows) })?;
    interrupt::watch();
    let setup = Setup { device: global.device.clone(), cl_dir: options.kernels.cl_dir.clone(), ..Setup::default() };
    let executor = bench::open(setup, &options.measure, MOST_BYTES, 0.0)?;
    let target = executor.info().target.clone();
    let scope = Scope { target: &target, quick: options.measure.quick, seed: options.data.seed };
    let studies = chosen.into_iter().map(|e| ExperimentRun::new(e, &scope)).collect::<Result<Vec<_>, Error>>()?;
    let rungs: Vec<&Rung> = studies
        .iter()
        .flat_map(|s| {
            s.tasks
                .iter()
                .filter_map(|task: &Task| if let LabWork::Kernel(_, rung) = task.work { Some(rung) } else { None })
        })
        .collect();
    bench::check_sources(&rungs, options.kernels.cl_dir.as_deref(), global.quiet)?;
    bench::announce(global, executor.info());
    let settings = options.measure.settings();
    let scene =
        Scene::on_device(&Run { quick: options.measure.quick, ..Run::begin() }, executor.info(), &settings, None);
    let mut limits =
        Limits::load(executor.info(), options.measure.quick, options.kernels.cl_dir.is_some(), global.quiet, note);
    let rounds = if options.measure.quick { QUICK_ROUNDS } else { sweep::ROUNDS };
    let steps = studies.iter().map(|s| s.tasks.len() * rounds as usize).sum();
    let pace = Pace::new(options.measure.whole_budget(), Instant::now(), steps);
    limits.end_by(pace.after(FOR_LIMITS));
    let observer = StatusLine::new(true);
    let jobs = Jobs { executor, observer, limits, pace, settings, rounds, steps: 0, step: 0 };
    let mut lab = Laboratory { jobs, scene, outputs, rows: Vec::new() };
    let measured = lab.run(&studies, out, global);
    let finished = lab.outputs.finish(measured.is_ok(), !lab.rows.is_empty());
    lab.jobs.pace.overrun().into_iter().for_each(|told| global.note(&told));
    let worst = bench::worst_named(&lab.rows, options.measure.strict);
    let probes = bench::gone_wrong(|status| lab.jobs.limits.broken(status));
    worst_of([measured, worst, probes, finished])
}

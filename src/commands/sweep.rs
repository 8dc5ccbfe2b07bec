//! `gpulab sweep`: every combination of rungs, work-groups, sizes, element types and tunables.

use crate::adopt::Brought;
use crate::bench::{self, Jobs};
use crate::ceilings::Limits;
use crate::cli::Sweep;
use crate::prelude::*;
use crate::report::progress::StatusLine;
use crate::report::sweep::{self as report, SweepTime};
use crate::runner::{FOR_LIMITS, Pace};
use crate::store::write_rows;
use crate::sweep::{Configuration, Identity, Order, ROUNDS, Shard};
use crate::sweeping::{
    SweepState, earlier_rows, joined, largest_input, listing, open_output, plan, remembered, rounds, sources, space,
    without_retried,
};
use crate::workers::{Duty, Parts, wait_for_writer};
use std::collections::BTreeSet;

/// Plans the sweep, measures what has no row yet, and sums it up: on standard output if that is a terminal, which gets no
/// rows, else on standard error.
pub fn run(out: &mut Out, global: &Global, options: &Sweep) -> Result<(), Error> {
    match Duty::of(&options.workers, Some(&options.output))? {
        Duty::Part(file, shard) => {
            wait_for_writer(&file);
            let output = file.display().to_string();
            let shard = Some((shard.index, shard.of));
            measure(out, global, &Sweep { output, shard, resume: true, ..options.clone() }, true)
        }
        Duty::Leader(parts) | Duty::Last(parts) if !options.dry_run => in_parts(global, options, &parts),
        _ => measure(out, global, options, false),
    }
}

/// `takes_turns`: others of this machine measure on the device, too.
fn measure(out: &mut Out, global: &Global, options: &Sweep, takes_turns: bool) -> Result<(), Error> {
    let brought = Brought::beside(options.subject.name().unwrap_or_default(), options.rungs.own.as_deref())?;
    let mut space = space(options, &brought)?;
    bench::check_sources(&space.rungs, options.kernels.cl_dir.as_deref(), global.quiet)?;
    let (bytes, ops) = largest_input(&space)?;
    let csv = if options.dry_run { None } else { open_output(options, global.force)? };
    interrupt::watch();
    let setup = Setup {
        device: global.device.clone(),
        cl_dir: options.kernels.cl_dir.clone(),
        takes_turns,
        ..Setup::of(&brought.registry)
    };
    let executor = bench::open(setup, &options.measure, bytes, ops)?;
    bench::announce(global, executor.info());
    space.remembered = remembered(&space, options, global, &*executor);
    let plan = plan(&space, &*executor, &|text| global.say(text))?;
    let shard = options.shard.map_or(Shard::ALL, |(index, of)| Shard { index, of });
    let mine: Vec<&Configuration> = plan.iter().filter(|c| shard.holds(c)).collect();
    if options.dry_run {
        return out.text(&listing(&mine, plan.len()));
    }
    if csv.is_none() {
        global.note("the rows appear only in the summary: -o FILE or a pipe keeps them as CSV");
    }
    let settings = options.measure.settings();
    let sources = sources(&space.rungs, options.kernels.cl_dir.as_deref())?;
    let identity =
        Identity::new(&plan, shard, executor.info(), &settings, options.order, options.measure.budget, &sources);
    let rows = earlier_rows(options, global, (&identity, &plan), csv.as_ref())?;
    let (csv, rows) = without_retried(options, global, csv, rows)?;
    let finished = rows.iter().filter_map(|r| r.case_index).collect::<BTreeSet<_>>();
    let (rounds, earlier) = rounds(options, &identity);
    let todo: Vec<&Configuration> = mine.into_iter().filter(|c| !finished.contains(&c.index)).collect();
    let measured = todo.iter().filter(|c| c.refusal.is_none()).count();
    let each = if options.order == Order::Interleave { ROUNDS } else { 1 };
    let steps = measured * each as usize;
    let pace = Pace::new(options.measure.whole_budget(), Instant::now(), steps);
    let mut limits =
        Limits::load(executor.info(), options.measure.quick, options.kernels.cl_dir.is_some(), global.quiet, note);
    limits.end_by(pace.after(FOR_LIMITS));
    let observer = StatusLine::new(global.quiet);
    let run = SweepState {
        family: space.family,
        scene: Scene {
            bound: Some(space.family.ceiling),
            ..Scene::on_device(&Run { quick: options.measure.quick, ..Run::begin() }, executor.info(), &settings, None)
        },
        identity,
        jobs: Jobs { executor, observer, limits, pace, settings, rounds: each, steps, step: 0 },
        rows,
        csv,
        quiet: global.quiet,
        earlier,
        rounds,
        time: SweepTime::default(),
    };
    run.run(out, &todo, options, global)
}

/// Has workers measure the parts, joins their rows and sums them up.
fn in_parts(global: &Global, options: &Sweep, parts: &Parts) -> Result<(), Error> {
    drop(open_output(options, global.force)?);
    parts.run()?;
    let files: Vec<PathBuf> = parts.files().map(|(_, file)| file).collect();
    let rows = joined(&files).map_err(|error| parts.unfinished(&error))?;
    write_rows(&options.output, &rows)?;
    parts.remove();
    global.say(report::summary(&report::swept(&rows), Screen::stderr()).trim_end());
    bench::worst(&rows, options.measure.strict)
}

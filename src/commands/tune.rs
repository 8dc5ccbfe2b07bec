//! `gpulab tune`: the search for a family's fastest settings.

use crate::adopt::Brought;
use crate::bench::{self, Input};
use crate::ceilings::Limits;
use crate::cli::{Global, TuneArgs};
use crate::console::{Out, note};
use crate::outputs::Paths;
use crate::record::{Run, Scene};
use crate::report::progress::StatusLine;
use crate::terminal::say;
use crate::tuning::{self, AskedTuning, Tuning, TuningRows, listing, narrowed};
use crate::worker::Setup;
use crate::{Error, interrupt};
use std::collections::BTreeMap;
use std::time::Instant;

/// Searches, measures the best again, remembers them, and explains; or replays recorded rows.
pub fn run(out: &mut Out, global: &Global, options: &TuneArgs) -> Result<(), Error> {
    let export = export_file(options)?;
    if !options.replay.is_empty() {
        return tuning::replay(out, global, options, export);
    }
    let brought = Brought::new(options.subject.name().unwrap_or_default(), options.rungs.own.as_deref())?;
    let asked = AskedTuning::new(options, &brought)?;
    bench::check_sources(&asked.rungs, options.kernels.cl_dir.as_deref(), global.quiet)?;
    let Paths { csv, json, .. } = Paths::from(&options.rows);
    let takes_stdout = [csv, json, export].contains(&Some("-"));
    tuning::check_writable(csv, json, export, global.force)?;
    let data = Input { family: asked.family, shape: asked.shape, dtype: asked.dtype, params: &asked.choices };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    interrupt::watch();
    let setup =
        Setup { device: global.device.clone(), cl_dir: options.kernels.cl_dir.clone(), ..Setup::of(&brought.registry) };
    let executor = bench::open_within(setup, options.process.in_process, options.deadline, bytes, data.ops())?;
    data.check_device(bytes, executor.info())?;
    let space = asked.space(options, &*executor)?;
    if !global.quiet {
        space.narrowings.iter().filter_map(narrowed).for_each(|text| say(&text));
    }
    if options.dry_run {
        return out.text(&listing(&space));
    }
    bench::announce(global, executor.info());
    let settings = options.settings();
    let identity = asked.identity(options, &space, &*executor, &settings)?;
    let rows = TuningRows::open(options, global, &identity, &space.candidates, executor.info())?;
    let limits = Limits::load(executor.info(), options.quick, options.kernels.cl_dir.is_some(), global.quiet, note);
    let scene = Scene {
        bound: Some(asked.family.ceiling),
        ..Scene::on_device(&Run { quick: options.quick, ..Run::begin() }, executor.info(), &settings, None)
    };
    let tuning = Tuning {
        asked: &asked,
        options,
        settings,
        space: &space,
        identity,
        scene,
        limits,
        executor,
        rows,
        spent: BTreeMap::new(),
        probed: 0.0,
        observer: Box::new(StatusLine::with_bar(global.quiet)),
        began: Instant::now(),
    };
    tuning.run(out, global, (export, takes_stdout))
}

/// The file that another tuner's format goes to.
fn export_file(options: &TuneArgs) -> Result<Option<&str>, Error> {
    match &options.export[..] {
        [format, file] if format == "kernel-tuner" => Ok(Some(file)),
        [format, _] => Err(Error::Usage(format!("--export {format}: the only format is kernel-tuner"))),
        _ => Ok(None),
    }
}

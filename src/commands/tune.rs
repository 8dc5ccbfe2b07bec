//! `gpulab tune`: the search for a family's fastest settings.

use crate::adopt::Brought;
use crate::bench::{self, Input};
use crate::ceilings::Limits;
use crate::cli::{RowFiles, TuneArgs};
use crate::outputs::Paths;
use crate::prelude::*;
use crate::report::progress::StatusLine;
use crate::sweep::Shard;
use crate::tuning::{self, AskedTuning, Tuning, TuningRows, listing, narrowed};
use crate::workers::{Duty, Parts, wait_for_writer};

/// Searches, measures the best again, remembers them, and explains; or replays recorded rows.
pub fn run(out: &mut Out, global: &Global, options: &TuneArgs) -> Result<(), Error> {
    let export = export_file(options)?;
    if !options.replay.is_empty() {
        return tuning::replay(out, global, options, export);
    }
    let csv = options.rows.csv.as_deref();
    match Duty::of(&options.workers, csv)? {
        Duty::Part(file, shard) => {
            wait_for_writer(&file);
            let rows = RowFiles { csv: Some(file.display().to_string()), json: None };
            let part = TuneArgs { rows, export: Vec::new(), ..options.clone() };
            search(out, global, &part, Some(shard), None)
        }
        Duty::Leader(parts) if !options.dry_run => {
            tuning::check_writable(csv, options.rows.json.as_deref(), export, global.force)?;
            parts.run()?;
            out.text(&parts.run_last()?)?;
            parts.remove();
            Ok(())
        }
        Duty::Last(parts) => search(out, global, options, None, Some(&parts)),
        _ => search(out, global, options, None, None),
    }
}

/// Searches the whole space, or a part of it; or goes on from the rows of all parts.
fn search(
    out: &mut Out,
    global: &Global,
    options: &TuneArgs,
    part: Option<Shard>,
    parts: Option<&Parts>,
) -> Result<(), Error> {
    let export = export_file(options)?;
    let brought = Brought::beside(options.subject.name().unwrap_or_default(), options.rungs.own.as_deref())?;
    let asked = AskedTuning::new(options, &brought)?;
    bench::check_sources(&asked.rungs, options.kernels.cl_dir.as_deref(), global.quiet)?;
    let Paths { csv, json, .. } = Paths::from(&options.rows);
    let takes_stdout = [csv, json, export].contains(&Some("-"));
    tuning::check_writable(csv, json, export, global.force)?;
    let data = Input { family: asked.family, shape: asked.shape, dtype: asked.dtype, params: &asked.choices };
    let bytes = data.bytes()?;
    data.check_host(bytes)?;
    interrupt::watch();
    let setup = Setup {
        device: global.device.clone(),
        cl_dir: options.kernels.cl_dir.clone(),
        takes_turns: part.is_some(),
        ..Setup::of(&brought.registry)
    };
    let executor = bench::open_within(setup, options.process.in_process, options.deadline, bytes, data.ops())?;
    data.check_device(bytes, executor.info())?;
    let mut space = asked.space(options, &*executor)?;
    if let Some(shard) = part {
        space.keep(shard);
    }
    space.narrowings.iter().filter_map(narrowed).for_each(|text| global.say(&text));
    if options.dry_run {
        return out.text(&listing(&space));
    }
    bench::announce(global, executor.info());
    let settings = options.settings();
    let identity = asked.identity(options, &space, &*executor, &settings)?.of_shard(part.unwrap_or(Shard::ALL));
    let mut rows = TuningRows::open(options, global, &identity, &space.candidates, executor.info())?;
    let found = match parts {
        Some(parts) => {
            rows.take_parts(parts, &identity, &space.candidates).map_err(|error| parts.unfinished(&error))?
        }
        None => Vec::new(),
    };
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
        is_part: part.is_some(),
        found,
        spent: BTreeMap::new(),
        probed: 0.0,
        observer: StatusLine::new(global.quiet),
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

//! `gpulab ceiling`: what the device does at best, measured and kept.

use crate::ceilings::{self, Kept};
use crate::cli::CeilingArgs;
use crate::kernels::PROBES;
use crate::limits::{everything, kept_of, measure, where_kept};
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::{bench, report};

/// What the data of a probe may come to, for its deadline: the device is not known yet when deadlines are set.
const MOST_BYTES: u64 = 1 << 30;

/// Measures every quantity, keeps them and prints them; or prints what is kept. What was measured before an error or an
/// interrupt is kept and printed all the same.
pub fn run(out: &mut Out, global: &Global, options: &CeilingArgs) -> Result<(), Error> {
    if options.show {
        return show(out, global, options);
    }
    check_sources(options, global.quiet)?;
    let folder = ceilings::folder()?;
    ceilings::check_writable(&folder)?;
    let mut outputs = Outputs::open(&Paths::from(&options.rows))?;
    interrupt::watch();
    let setup = Setup { device: global.device.clone(), cl_dir: options.kernels.cl_dir.clone(), ..Setup::default() };
    let deadline = options.deadline;
    let mut executor = bench::open_within(setup, options.process.in_process, deadline, MOST_BYTES, 0.0)?;
    let info = executor.info().clone();
    bench::announce(global, &info);
    let (before, damage) = Kept::load_or_put_aside(&folder, &info);
    damage.iter().for_each(|why| say(why));
    let mut kept = before.unwrap_or_else(|| Kept::empty(&info));
    let mut rows = Vec::new();
    let mut worse = Vec::new();
    let mut saved = Ok(());
    let mut broken = Vec::new();
    let measured = measure(&mut *executor, options, global, &mut broken, &mut |row, is_whole| {
        outputs.row(&row);
        rows.push(row.clone());
        // What edited kernels reach is no ceiling of the device; and the best of those that did not break may be too low.
        if !is_whole {
            return;
        }
        if !kept.add(row.clone()) {
            worse.push(row);
        }
        if saved.is_ok() && options.kernels.cl_dir.is_none() {
            saved = kept.save(&folder).map(|_| ());
        }
    });
    outputs.tell(out, &|screen| report::ceilings::text(&rows, screen), screen(global.color), global.quiet);
    if options.kernels.cl_dir.is_some() && !global.quiet {
        say("not kept: measured with the kernels of --cl-dir");
    } else if !global.quiet && measured.is_ok() && saved.is_ok() {
        note(&where_kept(&kept.path(&folder), &worse, rows.len()));
    }
    outputs.note(saved);
    let finished = outputs.finish(measured.is_ok(), !rows.is_empty());
    // A probe that broke did, although others of the same quantity gave a rate.
    let worst = bench::gone_wrong(|status| {
        broken.iter().find(|(ended, _): &&(Status, String)| *ended == status).map(|(_, probe)| probe.clone())
    });
    worst_of([measured, worst, finished])
}

/// Refuses a folder that lacks a probe.
fn check_sources(options: &CeilingArgs, quiet: bool) -> Result<(), Error> {
    let probes: Vec<&Rung> = PROBES.iter().flat_map(|family| family.kernels()).collect();
    bench::check_sources(&probes, options.kernels.cl_dir.as_deref(), quiet)
}

/// Prints what is kept, a table for each device.
fn show(out: &mut Out, global: &Global, options: &CeilingArgs) -> Result<(), Error> {
    let folder = ceilings::folder()?;
    let shown = match &global.device {
        Some(selector) => vec![kept_of(&folder, selector)?],
        None => everything(&folder)?,
    };
    let mut outputs = Outputs::open(&Paths::from(&options.rows))?;
    shown.iter().flat_map(|kept| &kept.ceilings).for_each(|row| outputs.row(row));
    let tables = |screen| {
        let tables = shown.iter().map(|kept| report::ceilings::text(&kept.ceilings, screen));
        tables.joined("\n")
    };
    outputs.tell(out, &tables, screen(global.color), global.quiet);
    outputs.finish(true, true)
}

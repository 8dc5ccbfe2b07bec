//! `gpulab ceiling`: what the device does at best, measured and kept.

use crate::ceilings::{self, CeilingRow, Effort, Kept, Quantity, all_kept};
use crate::cli::{CeilingArgs, Global};
use crate::console::{Out, note, screen, worst_of};
use crate::device::{doctor, select};
use crate::kernels::{PROBES, Rung};
use crate::outcome::{DeviceInfo, Executor, Outcome, Status};
use crate::outputs::{Outputs, Paths};
use crate::record::Run;
use crate::report::progress::{Observer, StatusLine};
use crate::terminal::say;
use crate::worker::Setup;
use crate::{Error, bench, interrupt, report};
use std::path::Path;

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
    let (mut rows, mut worse) = (Vec::new(), Vec::new());
    let (mut saved, mut broken) = (Ok(()), Vec::new());
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
        note(&told_kept(&kept.path(&folder), &worse, rows.len()));
    }
    outputs.note(saved);
    let finished = outputs.finish(measured.is_ok(), !rows.is_empty());
    // A probe that broke did, although others of the same quantity gave a rate.
    let worst = bench::gone_wrong(|status| {
        broken.iter().find(|(ended, _): &&(Status, String)| *ended == status).map(|(_, probe)| probe.clone())
    });
    worst_of([measured, worst, finished].into_iter().filter_map(Result::err))
}

/// Where ceilings are kept, and which of so many are not, as what was kept of them before is no `worse`.
fn told_kept(path: &Path, worse: &[CeilingRow], all: usize) -> String {
    let kept = format!("kept in {}", path.display());
    match worse {
        [] => kept,
        [_] => format!("{kept}, but not {}: the stored value was at least as good", report::ceilings::names(worse)),
        _ => format!(
            "{kept}, except {} of {all}, whose stored values were at least as good: {}",
            worse.len(),
            report::ceilings::names(worse)
        ),
    }
}

/// Refuses a folder that lacks a probe.
fn check_sources(options: &CeilingArgs, quiet: bool) -> Result<(), Error> {
    let probes: Vec<&Rung> = PROBES.iter().flat_map(|family| family.kernels()).collect();
    bench::check_sources(&probes, options.kernels.cl_dir.as_deref(), quiet)
}

/// Every quantity of this device, one after the other, each with whether all of its probes ran; `broken` are those that did
/// not, with what they ended in.
fn measure(
    executor: &mut dyn Executor,
    options: &CeilingArgs,
    global: &Global,
    broken: &mut Vec<(Status, String)>,
    take: &mut dyn FnMut(CeilingRow, bool),
) -> Result<(), Error> {
    let target = &executor.info().target;
    let effort = if options.quick { Effort::quick(target) } else { Effort::full(target) };
    let quantities: Vec<Quantity> = ceilings::quantities(target, options.quick);
    let run = Run::begin();
    let mut observer = StatusLine::new(global.quiet);
    let total = quantities.len();
    for (i, quantity) in quantities.iter().enumerate() {
        if interrupt::interrupted() {
            return Err(Error::Interrupted);
        }
        observer.case_started(i, total, &format!("{} {} ({})", quantity.what, quantity.element, quantity.place.name()));
        let before = broken.len();
        let mut tell = |outcome: &Outcome| {
            if outcome.status().is_broken() {
                broken.push((outcome.status(), ceilings::probe_name(outcome)));
            }
            observer.suspend(|| say(&ceilings::gone_wrong(outcome)));
        };
        let (row, _) = ceilings::measure(quantity, effort, &run, executor, &mut tell)?;
        take(row, broken.len() == before);
    }
    Ok(())
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
        tables.collect::<Vec<_>>().join("\n")
    };
    outputs.tell(out, &tables, screen(global.color), global.quiet);
    outputs.finish(true, true)
}

/// What is kept of the device that was chosen.
fn kept_of(folder: &Path, selector: &str) -> Result<Kept, Error> {
    let platforms = doctor::platforms()?;
    let info: &DeviceInfo = select::select(&platforms, Some(selector))?;
    let kept = Kept::load(folder, info)?.filter(|kept| !kept.ceilings.is_empty());
    kept.ok_or_else(|| {
        let DeviceInfo { name, driver, .. } = info;
        let what = format!("no ceilings of {name} with driver {driver} are kept yet");
        Error::Failed(format!("{what}: gpulab ceiling -d {selector} measures them"))
    })
}

/// What is kept of any device. A file that is damaged is named, and left out.
fn everything(folder: &Path) -> Result<Vec<Kept>, Error> {
    let readable = |kept: Result<Kept, Error>| kept.inspect_err(|error| say(&format!("{error}; left out"))).ok();
    let all: Vec<Kept> = all_kept(folder).into_iter().filter_map(readable).collect();
    if all.is_empty() {
        return Err(Error::Failed("no ceilings are kept yet: gpulab ceiling measures them".into()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_that_are_not_kept_are_named() {
        let path = format!("{}/data/results/nvidia-h200/ceilings.csv", env!("CARGO_MANIFEST_DIR"));
        let rows: Vec<CeilingRow> = csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect();
        let told = |worse: &[CeilingRow]| told_kept(Path::new("/home/me/kept.json"), worse, rows.len());
        let names: Vec<String> = rows.iter().map(|row| report::ceilings::names(std::slice::from_ref(row))).collect();
        assert_eq!(told(&[]), "kept in /home/me/kept.json");
        assert!(
            told(&rows[..1]).contains(&format!(", but not {}: the stored value", names[0])),
            "{}",
            told(&rows[..1])
        );
        let most = told(&rows[1..]);
        assert!(most.contains(&format!("except {} of {}", rows.len() - 1, rows.len())), "{most}");
        assert!(names[1..].iter().all(|name| most.contains(name)), "{most}");
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len(), "no two have one name: {names:?}");
    }
}

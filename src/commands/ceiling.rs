//! `gpulab ceiling`: what the device does at best, measured and kept.

use crate::ceilings::{self, CeilingRow, Effort, Kept};
use crate::cli::{CeilingArgs, Global};
use crate::console::worst_of;
use crate::device::{doctor, select};
use crate::kernels::{PROBES, Registry, Rung};
use crate::outcome::{DeviceInfo, Executor, Outcome, Status};
use crate::outputs::{Outputs, Paths};
use crate::record::Run;
use crate::report::progress::StatusLine;
use crate::terminal::say;
use crate::{Error, Result, bench, interrupt, report};
use gpulab_model::Joined;

/// What the data of a probe may come to, for its deadline: the device is not known yet when deadlines are set.
const MOST_BYTES: u64 = 1 << 30;

/// Measures every quantity, keeps them and prints them; or prints what is kept. What was measured before an error or an
/// interrupt is kept and printed all the same.
pub fn run(global: &Global, options: &CeilingArgs) -> Result<()> {
    if options.show {
        return show(global, options);
    }
    let cl_dir = options.cl_dir.as_deref();
    let probes: Vec<&Rung> = PROBES.iter().flat_map(|family| family.kernels()).collect();
    bench::check_sources(&probes, cl_dir, global.quiet)?;
    let folder = ceilings::folder()?;
    ceilings::check_writable(&folder)?;
    let mut outputs = Outputs::open(&Paths::from(&options.rows))?;
    interrupt::watch();
    let setup = global.setup(options.cl_dir.as_ref(), &Registry::default());
    let mut executor = bench::open(setup, options.in_process, options.deadline, MOST_BYTES, 0.0)?;
    let info = executor.info().clone();
    bench::announce(global, &info);
    let (mut kept, damage) = Kept::empty(&info).load_or_put_aside(&folder);
    damage.iter().for_each(|why| say(why));
    let mut rows = Vec::new();
    let mut worse = 0;
    let mut saved = Ok(());
    let mut broken = Vec::new();
    let measured = measure(
        &mut *executor,
        options,
        global,
        &mut broken,
        &mut |row, is_whole| {
            outputs.row(&row);
            rows.push(row.clone());
            // What edited kernels reach is no ceiling of the device; and the best of those that did not break may be too low.
            if is_whole {
                worse += usize::from(!kept.add(row));
                if saved.is_ok() && cl_dir.is_none() {
                    saved = kept.save(&folder).map(|_| ());
                }
            }
        },
    );
    outputs.tell(global, &|screen| report::ceilings::text(&rows, screen));
    if cl_dir.is_some() {
        global.say("not kept: measured with the kernels of --cl-dir");
    } else if measured.is_ok() && saved.is_ok() {
        let path = kept.path(&folder);
        let except = format!(
            ", except {worse} of {}, whose stored values were at least as good",
            rows.len()
        );
        global.note(&format!(
            "kept in {}{}",
            path.display(),
            if worse > 0 { &except } else { "" }
        ));
    }
    outputs.note(saved);
    let finished = outputs.finish(measured.is_ok(), !rows.is_empty());
    // A probe that broke did, although others of the same quantity gave a rate.
    let worst = bench::gone_wrong(|status| {
        broken
            .iter()
            .find(|(ended, _): &&(Status, String)| *ended == status)
            .map(|(_, probe)| probe.clone())
    });
    worst_of([measured, worst, finished])
}

/// Every quantity of this device, one after the other, each with whether all of its probes ran; `broken` are those that did
/// not, with what they ended in.
fn measure(
    executor: &mut dyn Executor,
    options: &CeilingArgs,
    global: &Global,
    broken: &mut Vec<(Status, String)>,
    take: &mut dyn FnMut(CeilingRow, bool),
) -> Result<()> {
    let target = &executor.info().target;
    let effort = if options.quick {
        Effort::quick(target)
    } else {
        Effort::full(target)
    };
    let quantities = ceilings::quantities(target, options.quick);
    let run = Run::begin();
    let mut observer = StatusLine::new(global.quiet);
    let total = quantities.len();
    for (i, quantity) in quantities.iter().enumerate() {
        bench::go_on()?;
        observer.case_started(
            i,
            total,
            &format!(
                "{} {} ({})",
                quantity.what,
                quantity.element,
                quantity.place.name()
            ),
        );
        let before = broken.len();
        let mut tell = |outcome: &Outcome| {
            if outcome.status().is_broken() {
                broken.push((outcome.status(), ceilings::probe_name(outcome)));
            }
            observer.suspend(|| say(&ceilings::gone_wrong(outcome)));
        };
        let (row, _) = ceilings::measure(quantity, effort, None, &run, executor, &mut tell)?;
        take(row, broken.len() == before);
    }
    Ok(())
}

/// Prints what is kept, a table for each device; a file that is damaged is named, and left out.
fn show(global: &Global, options: &CeilingArgs) -> Result<()> {
    let folder = ceilings::folder()?;
    let shown: Vec<Kept> = match &global.device {
        Some(selector) => {
            let platforms = doctor::platforms()?;
            let info: &DeviceInfo = select::select(&platforms, Some(selector))?;
            let kept = Kept::empty(info).load(&folder)?;
            Some(kept)
                .filter(|kept| !kept.entries.is_empty())
                .into_iter()
                .collect()
        }
        None => {
            let all = Kept::all(&folder).into_iter();
            all.filter_map(|kept| {
                kept.inspect_err(|error| say(&format!("{error}; left out")))
                    .ok()
            })
            .collect()
        }
    };
    if shown.is_empty() {
        return Err(Error::Failed(
            "no ceilings of this device and driver are kept yet: gpulab ceiling measures them"
                .into(),
        ));
    }
    let mut outputs: Outputs<CeilingRow> = Outputs::open(&Paths::from(&options.rows))?;
    shown
        .iter()
        .flat_map(|kept| &kept.entries)
        .for_each(|row| outputs.row(row));
    outputs.tell(global, &|screen| {
        shown
            .iter()
            .map(|kept| report::ceilings::text(&kept.entries, screen))
            .joined("\n")
    });
    outputs.finish(true, true)
}

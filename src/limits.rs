//! A device's limits, measured all in turn, and those that are kept.

use crate::ceilings::{self, CeilingRow, Effort, Kept, Quantity, all_kept};
use crate::cli::CeilingArgs;
use crate::device::{doctor, select};
use crate::prelude::*;
use crate::report::progress::StatusLine;
use crate::{bench, report};

/// Where ceilings are kept, and which of so many are not, as what was kept of them before is no `worse`.
pub(crate) fn where_kept(path: &Path, worse: &[CeilingRow], all: usize) -> String {
    let kept = format!("kept in {}", path.display());
    match worse {
        [] => kept,
        _ if worse.len() == all => {
            format!("nothing new is kept: the values in {} are at least as good", path.display())
        }
        [_] => format!("{kept}, but not {}: the stored value was at least as good", report::ceilings::names(worse)),
        _ => format!(
            "{kept}, except {} of {all}, whose stored values were at least as good: {}",
            worse.len(),
            report::ceilings::names(worse)
        ),
    }
}

/// Every quantity of this device, one after the other, each with whether all of its probes ran; `broken` are those that did
/// not, with what they ended in.
pub(crate) fn measure(
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
        bench::go_on()?;
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

/// What is kept of the device that was chosen.
pub(crate) fn kept_of(folder: &Path, selector: &str) -> Result<Kept, Error> {
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
pub(crate) fn everything(folder: &Path) -> Result<Vec<Kept>, Error> {
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
        let told = |worse: &[CeilingRow]| where_kept(Path::new("/home/me/kept.json"), worse, rows.len());
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

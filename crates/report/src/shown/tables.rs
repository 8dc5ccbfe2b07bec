//! Tables of `gpulab show` that put records together: chosen columns, rungs and devices side by side, findings.

use super::content::{ShownContent, ShownFile};
use super::reasons::{RunLimits, of_run};
use super::study::PointStudy;
use crate::beside::{self, ComparedDevice};
use crate::chosen::{self, ChosenColumn, table_names};
use crate::groups::{experiments, groups, tables};
use crate::payoff::{self, KeptPromise};
use crate::pivot::{self, PeerCells, Pivot};
use crate::sweep::latest;
use crate::{Medium, RateUnit, format, steps};
use gpulab_kernels::Registry;
use gpulab_model::Error;
use gpulab_model::suggest::{did_you_mean, nearest};
use gpulab_record::store::Recorded;
use gpulab_record::{Cells, CsvRecord, Point, Row};
use gpulab_study::ceilings::CeilingRow;
use gpulab_study::count::CountRow;
use gpulab_study::experiments::EXPERIMENTS;
use gpulab_study::why::{DeviceRates, LadderReasons, Payoffs, RungTime, ShareBasis, StepReason, reasons, results};
use std::path::Path;

fn columns_of_rows(names: &[String], rows: &[Row]) -> Result<Vec<ChosenColumn>, Error> {
    let known = || table_names().into_iter().chain(Row::COLUMNS.iter().map(|name| (*name).to_owned())).collect();
    let find =
        |name: &String| ChosenColumn::of_ladder(name, rows).ok_or_else(|| unknown(name, known(), &table_names()));
    names.iter().map(find).collect()
}

fn columns_of<T: CsvRecord>(names: &[String], records: &[T]) -> Result<Vec<ChosenColumn>, Error> {
    let known: Vec<String> = T::COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    names
        .iter()
        .map(|name: &String| ChosenColumn::of_file(name, records).ok_or_else(|| unknown(name, known.clone(), &known)))
        .collect()
}

fn unknown(name: &str, known: Vec<String>, listed: &[String]) -> Error {
    let near = nearest(name, known, |name| name.as_str());
    match near.is_empty() {
        true => Error::Usage(format!("there is no column {name:?} here; there is {}", listed.join(", "))),
        false => Error::Usage(format!("there is no column {name:?} here{}", did_you_mean(&near))),
    }
}

/// The chosen columns of what a file holds, a table for each ladder, experiment or device.
pub fn chosen(holds: &ShownContent, names: &[String], unit: RateUnit, medium: Medium) -> Result<Vec<String>, Error> {
    match holds {
        ShownContent::Recorded(Recorded::Rows(rows)) => {
            let columns = columns_of_rows(names, rows)?;
            Ok(tables(rows).iter().map(|rows| chosen::ladder(&latest(rows), &columns, unit, medium)).collect())
        }
        ShownContent::Recorded(Recorded::Points(points)) => {
            let title = |point: &Point| format!("{} on {}", point.experiment, format::device(&point.device));
            records(names, points, experiments(points), &title, medium)
        }
        ShownContent::Ceilings(rows) => {
            let title = |row: &CeilingRow| format!("ceilings of {}", format::device(&row.device));
            records(names, rows, groups(rows, |row| (row.platform.clone(), row.device.clone())), &title, medium)
        }
        ShownContent::Counts(rows) => {
            let title = |row: &CountRow| format!("counts of {}", row.family);
            records(names, rows, groups(rows, |row| (row.run_id.clone(), row.family.clone())), &title, medium)
        }
        ShownContent::Recorded(_) | ShownContent::Samples(_) => {
            Err(Error::Usage("--columns takes results of gpulab, not other programs' figures".into()))
        }
    }
}

fn records<T: CsvRecord>(
    names: &[String],
    all: &[T],
    groups: Vec<Vec<T>>,
    title: &dyn Fn(&T) -> String,
    medium: Medium,
) -> Result<Vec<String>, Error> {
    let columns = columns_of(names, all)?;
    Ok(groups
        .iter()
        .map(|own: &Vec<T>| chosen::records(&own.first().map(title).unwrap_or_default(), own, &columns, medium))
        .collect())
}

/// All rows of the files, and other programs' figures in them.
fn rows_and_peers(files: &[ShownFile]) -> (Vec<Row>, Vec<PeerCells>) {
    let mut rows = Vec::new();
    let mut peers = Vec::new();
    for file in files {
        match &file.holds {
            ShownContent::Recorded(Recorded::Rows(own)) => rows.extend(latest(own).into_owned()),
            ShownContent::Recorded(Recorded::Peers(cells)) => peers.push(cells.clone()),
            _ => {}
        }
    }
    (rows, peers)
}

pub struct PivotNames<'a> {
    pub by: &'a str,
    pub value: &'a str,
}

/// Rungs side by side: a line for each value of a column.
pub fn pivot(files: &[ShownFile], names: &PivotNames<'_>, unit: RateUnit, medium: Medium) -> Result<String, Error> {
    let (rows, peers) = rows_and_peers(files);
    if rows.is_empty() && !peers.is_empty() {
        return pivot::of_peers(&peers, names.by, names.value, medium).map_err(Error::Usage);
    }
    if rows.is_empty() {
        return Err(Error::Usage("--by needs rows of ladders or sweeps, and there are none here".into()));
    }
    let by = by(names.by, &rows)?;
    let value = columns_of_rows(&[names.value.to_owned()], &rows)?.remove(0);
    Pivot { by: &by, value: &value, unit }.text(&rows, &peers, medium).map_err(Error::Usage)
}

fn by(name: &str, rows: &[Row]) -> Result<ChosenColumn, Error> {
    Ok(columns_of(&[name.to_owned()], rows)?.remove(0))
}

fn all_reasons(rows: &[Row], (counts, limits): (&[CountRow], &[RunLimits])) -> Vec<LadderReasons> {
    tables(rows)
        .into_iter()
        .filter_map(|ladder: Vec<Row>| {
            let row = ladder.iter().find(|row| !row.on_host())?;
            let rates = DeviceRates::new(&of_run(limits, row), !row.is_on_cpu_device()).ok()?;
            Some(reasons(&Registry::default(), &ladder, counts, &rates))
        })
        .collect()
}

/// What `--why --by` takes in place of a column.
pub const WASTE: &str = "waste";

/// The same, for a line of each step.
pub const STEP: &str = "step";

/// The steps of the ladders in the files, each with what the model carries of it.
pub fn steps(files: &[ShownFile], material: (&[CountRow], &[RunLimits]), medium: Medium) -> Result<String, Error> {
    let (rows, _) = rows_and_peers(files);
    let none = "no step gains or loses a tenth: --why --by step has nothing to list";
    steps::table(&all_reasons(&rows, material), medium).ok_or_else(|| Error::Usage(none.into()))
}

/// What `--why` promises of a rung, beside what the next rung reached where it removes that waste: a line for each waste.
pub fn promises(files: &[ShownFile], material: (&[CountRow], &[RunLimits]), medium: Medium) -> Result<String, Error> {
    let (rows, _) = rows_and_peers(files);
    let mut kept: Vec<KeptPromise> = Vec::new();
    for ladder in all_reasons(&rows, material) {
        for (at, (before, (_, reason))) in ladder.rungs.iter().zip(&ladder.steps).enumerate() {
            let Some(payoffs) = before.payoffs.as_ref().filter(|own| own.basis == ShareBasis::Model) else { continue };
            if !matches!(reason, StepReason::Undecided(_)) {
                kept.extend(kept_promise(before, payoffs, &ladder.rungs[at + 1..]));
            }
        }
    }
    if kept.is_empty() {
        let why = "no step of a GPU's ladder removes what the model promises: --why --by waste has nothing to sum up";
        return Err(Error::Usage(why.into()));
    }
    Ok(payoff::kept(&kept, medium))
}

/// The promise that the next rung keeps. Where it keeps it by a tile that has bank conflicts, the rung behind it tells.
fn kept_promise(before: &RungTime, payoffs: &Payoffs, later: &[RungTime]) -> Option<KeptPromise> {
    let (old, _) = before.model.as_ref().ok()?;
    for after in later {
        let (next, (new, _)) = (after.payoffs.as_ref()?, after.model.as_ref().ok()?);
        let promise = payoffs.kept_by(next, (results(&before.row, old), results(&after.row, new)))?;
        if !next.trades_for_conflicts(promise.waste) {
            let promised = 1.0 / (1.0 - promise.saves);
            let reached = before.measured / after.measured;
            return Some(KeptPromise { waste: promise.waste, promised, reached });
        }
    }
    None
}

/// How far the model of `--why` is from the measured times: a line for each value of a column.
pub fn model_errors(
    files: &[ShownFile],
    name: &str,
    material: (&[CountRow], &[RunLimits]),
    medium: Medium,
) -> Result<String, Error> {
    let (rows, _) = rows_and_peers(files);
    let by = by(name, &rows)?.name();
    let mut factors: Vec<(String, f64)> = Vec::new();
    for rung in all_reasons(&rows, material).iter().flat_map(|ladder| &ladder.rungs) {
        factors.extend(rung.over_model().map(|over| (Cells::of(&rung.row).text(&by), over.max(1.0 / over))));
    }
    if factors.is_empty() {
        let why = "no rung has both counts and its device's ceilings: --why --by has nothing to sum up";
        return Err(Error::Usage(why.into()));
    }
    Ok(crate::why::errors(&by, &factors, medium))
}

fn device(file: &ShownFile, platform: &str, device: &str) -> ComparedDevice {
    let folder = Path::new(&file.name).parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    ComparedDevice { platform: platform.to_owned(), device: device.to_owned(), folder }
}

/// The ceilings of several devices as one table, if that is all that the files hold.
pub fn ceilings(files: &[ShownFile], medium: Medium) -> Option<String> {
    let mut all: Vec<(ComparedDevice, Vec<CeilingRow>)> = Vec::new();
    for file in files {
        let ShownContent::Ceilings(rows) = &file.holds else { return None };
        for row in rows {
            let device = device(file, &row.platform, &row.device);
            match all.iter_mut().find(|(known, _)| *known == device) {
                Some((_, own)) => own.push(row.clone()),
                None => all.push((device, vec![row.clone()])),
            }
        }
    }
    (all.len() > 1).then(|| beside::ceilings(&all, medium))
}

/// What the experiments in the files found, of each device the last run.
pub fn findings(files: &[ShownFile], medium: Medium) -> Result<String, Error> {
    let mut devices: Vec<ComparedDevice> = Vec::new();
    let mut found: Vec<(String, usize, String)> = Vec::new();
    for file in files {
        let ShownContent::Recorded(Recorded::Points(points)) = &file.holds else { continue };
        for points in experiments(points) {
            let Some(point) = points.first() else { continue };
            let device = device(file, &point.platform, &point.device);
            let at = devices.iter().position(|known| *known == device).unwrap_or(devices.len());
            if at == devices.len() {
                devices.push(device);
            }
            found.push((point.experiment.clone(), at, PointStudy::of(&points).finding));
        }
    }
    let known = EXPERIMENTS.iter().map(|experiment| experiment.name);
    let of = |name: &str| {
        let texts: Vec<Option<String>> = (0..devices.len())
            .map(|at| found.iter().rfind(|(own, of, _)| own == name && *of == at).map(|(.., text)| text.clone()))
            .collect();
        texts.iter().any(Option::is_some).then(|| (name.to_owned(), texts))
    };
    let lines: Vec<_> = known.filter_map(of).collect();
    match lines.is_empty() {
        true => Err(Error::Usage("--findings: there is no experiment among these records".into())),
        false => Ok(beside::findings(&devices, &lines, medium)),
    }
}

//! The device sheet: whether times can be trusted, and what the device does at best.

use super::material::DevicePart;
use super::parts::{folded, notes, table};
use crate::ceilings::{UNQUIET, name, shape, when, who};
use crate::format;
use crate::groups::distinct;
use crate::picture::number;
use crate::view::status_word;
use gpulab_kernels::values::binary;
use gpulab_model::outcome::{Clock, Status};
use gpulab_record::{Flags, Row, flag};
use gpulab_study::ceilings::{CeilingRow, Site};
use maud::{Markup, html};

const DOUBTS: [(Flags, &str); 3] = [
    (flag::NOISY, "noisy: its runs spread more than was asked for"),
    (flag::DRIFT, "unsteady: the device's clock or a neighbour changed while it ran"),
    (flag::CLOCK_FALLBACK, "timed by another clock than the one asked for"),
];

fn timed<'a>(own: &'a DevicePart<'_>) -> impl Iterator<Item = &'a Row> {
    own.rows.iter().filter(|row| row.t_median_s.is_some() && !row.on_host())
}

/// How many times are doubtful: of ladders, and of sweeps, which sample for a shorter time.
pub(super) fn trust_heading(own: &DevicePart<'_>) -> String {
    let doubtful = |is_swept: bool| {
        let is_meant = |row: &&Row| row.sweep_id.is_empty() != is_swept;
        let all = timed(own).filter(is_meant);
        let bad = timed(own).filter(is_meant).filter(|row| row.is_doubtful());
        (all.count(), bad.count())
    };
    let ladders = doubtful(false);
    let sweeps = doubtful(true);
    match (ladders, sweeps) {
        ((0, _), (0, _)) => "The device".to_owned(),
        ((all, 0), (more, 0)) => format!("The device was quiet: none of {} is doubtful", times(all + more)),
        (ladders, (0, _)) => format!("May this be trusted? {} doubtful", share(ladders)),
        ((0, _), sweeps) => format!("May this be trusted? In sweeps {} doubtful", share(sweeps)),
        (ladders, sweeps) => {
            format!("May this be trusted? In ladders {} doubtful, in sweeps {}", share(ladders), percent_of(sweeps))
        }
    }
}

/// `12 % of 340 times are`.
fn share(of: (usize, usize)) -> String {
    format!("{} of {} {}", percent_of(of), times(of.0), if of.0 == 1 { "is" } else { "are" })
}

fn percent_of((all, some): (usize, usize)) -> String {
    match (some, 100.0 * some as f64 / all as f64) {
        (0, _) => "none".to_owned(),
        (_, percent) if percent < 1.0 => "less than 1\u{a0}%".to_owned(),
        (_, percent) => format!("{percent:.0}\u{a0}%"),
    }
}

/// The device, its driver and its host; whether results were right and clocks sane; what is doubtful.
pub(super) fn trust(own: &DevicePart<'_>) -> Markup {
    let sane = sanity(own);
    let doubts = doubts(own);
    let failed: Vec<&Row> =
        own.rows.iter().filter(|row| ![Status::Ok, Status::Skipped].contains(&row.status)).collect();
    let failures = failed.iter().map(|row| {
        let why = row.reason.lines().next().unwrap_or_default().to_owned();
        let size = format::count(row.n);
        vec![row.family.clone(), row.variant.clone(), size, row.wg_text(), status_word(row.status).to_owned(), why]
    });
    let failures: Vec<Vec<String>> = failures.collect();
    html! {
        div.sheet {
            dl {
                @for (name, value) in facts(own) { div { dt { (name) } dd { (format::terminal(&value)) } } }
            }
            @if !sane.is_empty() {
                div {
                    (notes(&sane))
                    @if !doubts.is_empty() {
                        p { "Of all times:" }
                        (notes(&doubts))
                        p.quiet { "A difference that noise can make is called undecided on this page." }
                    }
                }
            }
        }
        @if !failures.is_empty() {
            (folded(&format!("{} without a result to trust", cases(failures.len())),
                &table(&["family", "rung", "n", "work-group", "what", "why"].map(str::to_owned), &failures)))
        }
    }
}

/// Whether results were right, and whose clock times are of; nothing without a time.
fn sanity(own: &DevicePart<'_>) -> Vec<String> {
    let all = timed(own).count();
    if all == 0 {
        return Vec::new();
    }
    let of = |status: Status| own.rows.iter().filter(|row| row.status == status).count();
    let results = match (of(Status::WrongResult), of(Status::BuildFailed)) {
        (0, 0) => "Every result was right, and every kernel was built.".to_owned(),
        (wrong, unbuilt) => format!(
            "{} a wrong result; of {} the kernel was not built.",
            counted(wrong, "case gave", "cases gave"),
            cases(unbuilt)
        ),
    };
    let too_fast = match of(Status::Suspect) {
        0 => "No time is shorter than the device can do.".to_owned(),
        several => format!(
            "{} faster than the device can be: the driver's clock is not to be trusted.",
            counted(several, "is", "are")
        ),
    };
    let by_event = timed(own).filter(|row| row.clock == Clock::Event).count();
    let clock = match by_event {
        count if count == all => "All times are by the driver's own clock.".to_owned(),
        0 => "All times are by the host's clock, launches and all.".to_owned(),
        1 => format!("1 of {} is by the driver's own clock.", times(all)),
        count => format!("{} of {} are by the driver's own clock.", number::count(count as u64), times(all)),
    };
    vec![results, too_fast, clock]
}

/// `1 case`, or `1 234 cases`.
fn counted(count: usize, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", number::count(count as u64)) }
}

fn times(count: usize) -> String {
    counted(count, "time", "times")
}

fn cases(count: usize) -> String {
    counted(count, "case", "cases")
}

fn doubts(own: &DevicePart<'_>) -> Vec<String> {
    let doubts = DOUBTS.iter().filter_map(|&(flag, meaning)| {
        let count = timed(own).filter(|row| row.flags.contains(flag)).count();
        let whose = if count == 1 { "its runs" } else { "their runs" };
        (count > 0).then(|| format!("{} {}", counted(count, "is", "are"), meaning.replace("its runs", whose)))
    });
    doubts.collect()
}

/// What is known of device, driver and host; what is empty is left out.
fn facts(own: &DevicePart<'_>) -> Vec<(&'static str, String)> {
    let rows = || own.rows.iter();
    let device_rows = || rows().filter(|row| !row.on_host());
    let points = || own.studies.iter().flat_map(|study| &study.points);
    let all = |cells: &mut dyn Iterator<Item = String>| {
        let mut all: Vec<String> = cells.filter(|cell| !cell.trim().is_empty()).collect();
        all.sort();
        all.dedup();
        all.join(", ")
    };
    let drivers = &mut device_rows()
        .map(|row| row.driver.clone())
        .chain(points().map(|p| p.driver.clone()))
        .chain(own.ceilings.iter().map(|row| row.driver.clone()));
    let names = &mut device_rows()
        .map(|row| row.device.clone())
        .chain(points().map(|p| p.device.clone()))
        .chain(own.ceilings.iter().map(|row| row.device.clone()));
    let mhz = |row: &Row| row.clock_mhz.map(|mhz| format!("{mhz:.0} MHz"));
    let threads = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    let facts = [
        ("device", all(names)),
        ("platform", own.key.0.clone()),
        ("driver", all(drivers)),
        ("OpenCL", all(&mut device_rows().map(|row| row.cl_version.clone()))),
        ("clock, as stated", all(&mut device_rows().filter_map(mhz))),
        ("host", all(&mut rows().map(|row| row.host_cpu.clone()).chain(points().map(|p| p.host_cpu.clone())))),
        (
            "host's threads",
            all(&mut rows().map(|row| threads(row.host_threads)).chain(points().map(|p| threads(p.host_threads)))),
        ),
        ("system", all(&mut rows().map(|row| row.os.clone()).chain(points().map(|p| p.os.clone())))),
        ("times", number::count(timed(own).count() as u64)),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty() && value != "0").collect()
}

pub(super) fn limits_heading(own: &DevicePart<'_>) -> String {
    match own
        .ceilings
        .iter()
        .find(|row: &&CeilingRow| row.what == "read" && row.place == Site::Memory)
        .and_then(|row| Some((row.value?, &row.unit)))
    {
        Some((value, unit)) => {
            format!("At best it reads {} {} from memory", number::value(value), format::terminal(unit))
        }
        None => "What the device does at best".to_owned(),
    }
}

/// The measured limits, a table for each unit, and the curves over size folded.
pub(super) fn limits(own: &DevicePart<'_>) -> Option<Markup> {
    let (curve, single): (Vec<&CeilingRow>, Vec<&CeilingRow>) =
        own.ceilings.iter().partition(|r| r.place == Site::Curve);
    if own.ceilings.is_empty() {
        return None;
    }
    let units = distinct(single.iter().map(|row| row.unit.as_str()));
    let of = |unit: &str| single.iter().copied().filter(|row| row.unit == unit).collect::<Vec<_>>();
    Some(html! {
        p.quiet { "The best of many shapes of small kernels, " (format::terminal(&when(&own.ceilings))) ". A share of a limit is of the one that was at hand in the same run; its chart names it." }
        div.cards { @for unit in units { (limit_table(unit, &of(unit))) } }
        @let unquiet: Vec<&CeilingRow> = single.iter().copied().filter(|row| row.is_unquiet()).collect();
        @if !unquiet.is_empty() { p { (format::terminal(&who(&unquiet, single.len()))) ": " (UNQUIET) "." } }
        @if !curve.is_empty() { (folded("Limits by size of the data", &curve_table(&curve))) }
    })
}

fn limit_table(unit: &str, rows: &[&CeilingRow]) -> Markup {
    table(
        &["what".to_owned(), number::unit(unit).to_owned(), "noise".to_owned(), "best shape".to_owned()],
        &rows
            .iter()
            .map(|row: &&CeilingRow| {
                let value = row.value.map_or_else(|| status_word(row.status).to_owned(), number::value);
                vec![name(row), value, percent(row.noise), shape(row).lines().next().unwrap_or_default().to_owned()]
            })
            .collect::<Vec<_>>(),
    )
}

fn curve_table(rows: &[&CeilingRow]) -> Markup {
    let head = ["what", "data", "best", "unit", "noise"].map(str::to_owned);
    table(
        &head,
        &rows
            .iter()
            .map(|row: &&CeilingRow| {
                let value = row.value.map_or_else(|| status_word(row.status).to_owned(), number::value);
                vec![name(row), row.bytes.map(binary).unwrap_or_default(), value, row.unit.clone(), percent(row.noise)]
            })
            .collect::<Vec<_>>(),
    )
}

fn percent(share: Option<f64>) -> String {
    share.map(|share| format!("{:.1} %", 100.0 * share)).unwrap_or_default()
}

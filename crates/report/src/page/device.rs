//! The device sheet: whether times can be trusted, and what the device does at best.

use super::{Material, folded, notes, table};
use crate::ceilings::{UNQUIET, name, shape, when, who};
use crate::format;
use crate::groups::{distinct, groups};
use crate::picture::number;
use crate::view::status_word;
use gpulab_kernels::values::binary;
use gpulab_model::outcome::{Clock, Status};
use gpulab_record::Row;
use gpulab_study::ceilings::{CeilingRow, Site};
use maud::{Markup, html};

fn timed(own: &Material) -> impl Iterator<Item = &Row> {
    own.rows
        .iter()
        .filter(|row| row.t_median_s.is_some() && !row.on_host())
}

/// How many times are doubtful.
pub fn heading(own: &Material) -> String {
    let doubtful = timed(own).filter(|row| row.is_doubtful()).count();
    match timed(own).count() {
        0 => "The device".to_owned(),
        all => format!("May this be trusted? {doubtful} of {all} times are doubtful"),
    }
}

/// The device, its driver and its host; whether results were right and whose clock times are of.
pub fn trust(own: &Material, platform: &str) -> Markup {
    let failed = own
        .rows
        .iter()
        .filter(|row| ![Status::Ok, Status::Skipped].contains(&row.status));
    let failures: Vec<Vec<String>> = failed
        .map(|row| {
            let why = row.reason.lines().next().unwrap_or_default().to_owned();
            let size = format::count(row.n);
            vec![
                row.family.clone(),
                row.variant.clone(),
                size,
                row.wg_text(),
                status_word(row.status).to_owned(),
                why,
            ]
        })
        .collect();
    html! {
        div.sheet {
            dl {
                @for (name, value) in facts(own, platform) { div { dt { (name) } dd { (format::terminal(&value)) } } }
            }
            div { (notes(&sanity(own))) }
        }
        @if !failures.is_empty() {
            (folded(&format!("{} without a result to trust", format::counted(failures.len(), "case")),
                &table(&["family", "rung", "n", "work-group", "what", "why"].map(str::to_owned), &failures)))
        }
    }
}

/// Whether results were right, and whose clock times are of; nothing without a time.
fn sanity(own: &Material) -> Vec<String> {
    let all = timed(own).count();
    if all == 0 {
        return Vec::new();
    }
    let [wrong, unbuilt, fast] = [Status::WrongResult, Status::BuildFailed, Status::Suspect]
        .map(|status| own.rows.iter().filter(|row| row.status == status).count());
    let by_event = timed(own).filter(|row| row.clock == Clock::Event).count();
    vec![
        format!(
            "Wrong results: {wrong}. Kernels that were not built: {unbuilt}. Times shorter than the device can do: {fast}."
        ),
        format!("{by_event} of {all} times are by the driver's own clock; one by the host's clock has the launch in it."),
        "A time is doubtful if its runs spread more than was asked for, if the device's clock or a neighbour changed while \
         it ran, or if another clock than the one asked for timed it. A difference that noise can make is called undecided."
            .to_owned(),
    ]
}

/// What is known of device, driver and host; what is empty is left out.
fn facts(own: &Material, platform: &str) -> Vec<(&'static str, String)> {
    let mut cells: Vec<(&'static str, String)> = Vec::new();
    for row in own.rows.iter().filter(|row| !row.on_host()) {
        let clock = row
            .clock_mhz
            .map_or_else(String::new, |clock| format!("{clock:.0} MHz"));
        cells.extend([
            ("OpenCL", row.cl_version.clone()),
            ("clock, as stated", clock),
        ]);
        cells.extend(machine([&row.device, &row.driver, &row.host_cpu, &row.os]));
    }
    for point in &own.points {
        cells.extend(machine([
            &point.device,
            &point.driver,
            &point.host_cpu,
            &point.os,
        ]));
    }
    cells.push(("platform", platform.to_owned()));
    cells.retain(|(_, cell)| !cell.trim().is_empty());
    let names = [
        "device",
        "platform",
        "driver",
        "OpenCL",
        "clock, as stated",
        "host",
        "system",
    ];
    let facts = names.map(|name| {
        (
            name,
            distinct(
                cells
                    .iter()
                    .filter(|cell| cell.0 == name)
                    .map(|cell| &*cell.1),
            ),
        )
    });
    facts
        .into_iter()
        .filter(|(_, all)| !all.is_empty())
        .map(|(name, all)| (name, all.join(", ")))
        .collect()
}

fn machine(cells: [&String; 4]) -> impl Iterator<Item = (&'static str, String)> {
    ["device", "driver", "host", "system"]
        .into_iter()
        .zip(cells.map(String::clone))
}

/// The limits that a reader asks for first: what was measured and where, and its name here.
const FIRST: [(&str, Site, &str); 8] = [
    ("read", Site::Memory, "memory, read"),
    ("copy", Site::Memory, "memory, copied"),
    ("read", Site::Cache, "cache, read"),
    ("local", Site::Unit, "local memory, read"),
    ("fma", Site::Unit, "multiply-adds (f32)"),
    ("launch, event time", Site::Host, "an empty kernel"),
    ("to the device, pinned", Site::Host, "from the host, pinned"),
    (
        "to the device, pageable",
        Site::Host,
        "from the host, pageable",
    ),
];

/// The first limits; all of them folded, a table for each unit, and the curves over size.
pub fn limits(own: &Material) -> Option<Markup> {
    let (curve, single): (Vec<&CeilingRow>, Vec<&CeilingRow>) = own
        .ceilings
        .iter()
        .partition(|row| row.place == Site::Curve);
    let unquiet: Vec<&CeilingRow> = single
        .iter()
        .copied()
        .filter(|row| row.is_unquiet())
        .collect();
    (!own.ceilings.is_empty()).then(|| html! {
        dl.first { @for (what, place, name) in FIRST {
            @if let Some(row) = single.iter().find(|row| row.what == what && row.place == place) {
                div { dt { (name) } dd { (row.value.map(number::value).unwrap_or_default()) " " (format::terminal(number::unit(&row.unit))) } }
            }
        } }
        (folded("All limits, with the shapes that reach them", &html! {
        p.quiet { "The best of many shapes of small kernels, " (format::terminal(&when(&own.ceilings))) ". A share of a limit is of the one that was at hand in the same run; its chart names it." }
        div.cards { @for own in groups(&single, |row| row.unit.as_str()) { (limit_table(&own)) } }
        @if !unquiet.is_empty() { p { (format::terminal(&who(&unquiet, single.len()))) ": " (UNQUIET) "." } }
        @if !curve.is_empty() { (folded("Limits by size of the data", &limit_table(&curve))) }
        }))
    })
}

fn limit_table(rows: &[&CeilingRow]) -> Markup {
    let mut cells = Vec::new();
    for row in rows {
        let data = row.bytes.map(binary).unwrap_or_default();
        let value = row
            .value
            .map_or_else(|| status_word(row.status).to_owned(), number::value);
        let noise = row
            .noise
            .map(|share| format!("{:.1} %", 100.0 * share))
            .unwrap_or_default();
        let shape = shape(row).lines().next().unwrap_or_default().to_owned();
        cells.push(vec![
            name(row),
            data,
            value,
            number::unit(&row.unit).to_owned(),
            noise,
            shape,
        ]);
    }
    table(
        &["what", "data", "best", "unit", "noise", "best shape"].map(str::to_owned),
        &cells,
    )
}

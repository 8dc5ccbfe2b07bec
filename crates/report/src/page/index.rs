//! The page of a gallery that compares its devices and leads to their pages.

use super::ladder::by_family;
use super::material::{DevicePart, PageMaterial};
use super::parts::{Ids, prose};
use super::{contents, devices_of, framed, part, steps};
use crate::format;
use crate::picture::{self, number};
use crate::rungs;
use gpulab_record::Row;
use gpulab_study::ceilings::{CeilingRow, Site};
use maud::{Markup, html};

/// The limits that a card names: what was measured and where, in order.
const NAMED: [(&str, Site, &str); 5] = [
    ("read", Site::Memory, "reads from memory"),
    ("copy", Site::Memory, "copies in memory"),
    ("read", Site::Cache, "reads from cache"),
    ("fma", Site::Unit, "multiply-adds"),
    ("launch, event time", Site::Host, "an empty launch"),
];

/// The page; `pages` are the addresses of the folders' own ones, in their order.
pub fn html(material: &PageMaterial<'_>, pages: &[String]) -> String {
    let ids = Ids::default();
    let cards = html! { div.pair { @for (folder, page) in material.folders.iter().zip(pages) {
        @for own in devices_of(folder) { (card(&own, page, &ids)) }
    } } };
    let parts = [
        part(&ids, "devices", "What each device does at best", Some(cards)),
        part(&ids, "steps", steps::heading(material), steps::matrix(material)),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let main = html! { @for part in &parts { (part.whole()) } };
    let count = pages.len();
    let lead = format!("{}, each with a page of its own.", format::counted(count, "recorded machine"));
    framed("Devices compared", &html! { "gpulab" }, &lead, &contents(&[], &[], &parts), &main)
}

fn card(own: &DevicePart<'_>, page: &str, ids: &Ids) -> Markup {
    let id = ids.next("device");
    let limits: Vec<(&str, String)> = NAMED.iter().filter_map(|named| limit(own, named)).collect();
    let firsts: Vec<Vec<Row>> = by_family(own).into_iter().map(|(first, _)| first).collect();
    html! { article.card aria-labelledby=(id) {
        h3 #(id) { a href=(page) { (own.name()) } }
        p.quiet { (own.of()) }
        @if !limits.is_empty() {
            dl { @for (name, value) in &limits { div { dt { (name) } dd { (value) } } } }
        }
        @if !firsts.is_empty() {
            ul.best { @for rows in &firsts { @if let Ok(picture) = picture::ladder(rows) {
                li { b { (case(rows)) } " " (prose(&picture.title)) @if let Some(limit) = limit_of(rows) { " (" (limit) ")" } }
            } } }
        }
        @if limits.is_empty() && firsts.is_empty() { p { (experiments(own)) } }
    } }
}

fn limit(own: &DevicePart<'_>, (what, place, name): &(&str, Site, &'static str)) -> Option<(&'static str, String)> {
    let is_it =
        |row: &&CeilingRow| row.what == *what && row.place == *place && ["", "f32"].contains(&row.element.as_str());
    let row = own.ceilings.iter().find(is_it)?;
    Some((name, format!("{} {}", number::value(row.value?), format::terminal(number::unit(&row.unit)))))
}

/// The limit that a ladder's rows were held against, which its own run measured.
fn limit_of(rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| row.ceiling_pct.is_some())?;
    let (unit, rate) = rungs::limit(row)?;
    Some(format!("limit in its run: {} {unit}", number::value(rate)))
}

/// `reduce i32, n = 16_777_216:`.
fn case(rows: &[Row]) -> String {
    let Some(row) = rows.iter().find(|row| !row.on_host()) else { return String::new() };
    let size = match row.m {
        1 => format!("n = {}", format::count(row.n)),
        m => format!("{} × {}", format::count(row.n), format::count(m)),
    };
    format!("{} {}, {size}:", format::terminal(&row.family), row.dtype)
}

/// What is recorded of a device without limits and ladders.
fn experiments(own: &DevicePart<'_>) -> String {
    match own.studies.len() {
        0 => format!("{} rows of sweeps.", number::count(own.rows.len() as u64)),
        1 => "One experiment.".to_owned(),
        several => format!("{several} experiments."),
    }
}

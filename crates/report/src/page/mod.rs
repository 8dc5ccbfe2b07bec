//! One page of recorded results, as HTML: a file of its own that needs no network and no script.
//!
//! What comes from files is text by construction: markup is made by `html!` alone, which escapes it. A file for each part of the
//! page; `parts` has what they share.

mod data;
mod device;
mod index;
mod lab;
mod ladder;
mod material;
mod parts;
mod steps;

use super::format;
use super::groups::{distinct, groups};
use super::picture::{Theme, theme};
use gpulab_record::Row;
use gpulab_study::ceilings::CeilingRow;
use material::DevicePart;
pub use material::{DataFile, DataPlace, PageMaterial, RecordedFolder, RecordedStudy};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use parts::Ids;

const STYLE: &str = include_str!("style.css");

pub fn html(material: &PageMaterial<'_>) -> String {
    let ids = Ids::default();
    let devices = devices(material);
    let mut names: Vec<String> = devices.iter().map(DevicePart::name).collect();
    names.dedup();
    let title = if names.is_empty() { "Recorded results".to_owned() } else { names.join(", ") };
    let parts: Vec<Vec<PageSection>> = devices.iter().map(|part| device_parts(part, material, &ids)).collect();
    let whole = whole(material, &ids);
    let main = html! {
        @for (part, sections) in devices.iter().zip(&parts) {
            @if devices.len() > 1 { h2.device { (part.name()) " " span.quiet { (part.of()) } } }
            @for section in sections { (section.whole()) }
        }
        @for section in &whole { (section.whole()) }
    };
    let brand = html! { "gpulab" @if let Some(home) = material.home { ": " a href=(home) { "all devices" } } };
    framed(&title, &brand, &lead(material), &contents(&devices, &parts, &whole), &main)
}

pub use index::html as index;

/// A whole page: its head, and what its body holds.
fn framed(title: &str, brand: &Markup, lead: &str, contents: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="gpulab";
                title { (title) ": what gpulab measured" }
                style { (PreEscaped(theme::style(Theme::Auto))) (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.brand { (brand) }
                    h1 { (title) }
                    p.lead { (lead) }
                }
                (contents)
                main { (main) }
            }
        }
    };
    page.into_string() + "\n"
}

/// A section: what the reader learns from it, in short for the list of contents, and what it holds.
struct PageSection {
    id: String,
    short: &'static str,
    heading: String,
    body: Markup,
}

impl PageSection {
    fn whole(&self) -> Markup {
        html! { section #(self.id) aria-labelledby=(format!("{}-h", self.id)) {
            h2 #(format!("{}-h", self.id)) { (self.heading) }
            (self.body)
        } }
    }
}

fn part(ids: &Ids, short: &'static str, heading: impl Into<String>, body: Option<Markup>) -> Option<PageSection> {
    Some(PageSection { id: ids.next("part"), short, heading: heading.into(), body: body? })
}

fn device_parts(own: &DevicePart<'_>, material: &PageMaterial<'_>, ids: &Ids) -> Vec<PageSection> {
    let all = [
        part(ids, "trust", device::trust_heading(own), Some(device::trust(own))),
        part(ids, "limits", device::limits_heading(own), device::limits(own)),
        part(ids, "ladders", ladder::heading(own), ladder::ladders(own, material, ids)),
        part(ids, "roofline", ladder::roofline_heading(own), ladder::roofline(own, ids)),
        part(ids, "sweeps", lab::sweeps_heading(own), lab::sweeps(own, ids)),
        part(ids, "sizes", "How time grows with the problem", lab::sizes(own, ids)),
        part(ids, "experiments", lab::experiments_heading(own), lab::experiments(own, ids)),
        part(ids, "overlap", "What copies and kernels hide of each other", lab::overlaps(own, ids)),
        part(ids, "single runs", "Is this noise? Each run as a mark", lab::samples(own, &own.folder.samples, ids)),
    ];
    all.into_iter().flatten().collect()
}

fn whole(material: &PageMaterial<'_>, ids: &Ids) -> Vec<PageSection> {
    let all = [
        part(ids, "devices compared", steps::heading(material), steps::matrix(material)),
        part(ids, "other programs", "What other programs measured", data::peers(material)),
        part(ids, "commands", "The commands that made the data", data::commands(material)),
        part(ids, "data", "The data, to download", data::files(material)),
    ];
    all.into_iter().flatten().collect()
}

fn contents(devices: &[DevicePart<'_>], parts: &[Vec<PageSection>], whole: &[PageSection]) -> Markup {
    let links = |parts: &[PageSection]| html! { ul { @for part in parts { li { a href=(format!("#{}", part.id)) { (part.short) } } } } };
    html! { nav aria-label="Contents" {
        @for (device, own) in devices.iter().zip(parts) {
            @if devices.len() > 1 { span.quiet { (device.name()) } }
            (links(own))
        }
        (links(whole))
    } }
}

/// `Recorded from ... to ... with gpulab 0.1.0.`
fn lead(material: &PageMaterial<'_>) -> String {
    let folders = || material.folders.iter();
    let of_rows = folders().flat_map(|own| &own.rows).map(|row| (row.time_utc.as_str(), row.gpulab.as_str()));
    let of_points = folders().flat_map(|own| &own.studies).flat_map(|study| &study.points);
    let of_points = of_points.map(|point| (point.time_utc.as_str(), point.gpulab.as_str()));
    let of_limits = folders().flat_map(|own| &own.ceilings).map(|row| (row.time_utc.as_str(), row.gpulab.as_str()));
    let all: Vec<(&str, &str)> = of_rows.chain(of_points).chain(of_limits).collect();
    let day = |time: &str| format::terminal(time.split('T').next().unwrap_or_default());
    let first = all.iter().map(|of| day(of.0)).min();
    let last = all.iter().map(|of| day(of.0)).max();
    let mut versions: Vec<String> = all.iter().map(|of| format::terminal(of.1)).collect();
    versions.sort();
    versions.dedup();
    let when = match (first, last) {
        (Some(first), Some(last)) if first == last => format!("on {first}"),
        (Some(first), Some(last)) => format!("from {first} to {last}"),
        _ => return String::new(),
    };
    format!("Recorded {when} with gpulab {}, which times no result that it has not checked.", versions.join(", "))
}

fn devices<'a>(material: &PageMaterial<'a>) -> Vec<DevicePart<'a>> {
    material.folders.iter().flat_map(devices_of).collect()
}

/// The devices of a folder. CPU baselines belong to the device that their run was on. PoCL's versions name one processor by
/// several compilers' targets.
fn devices_of(folder: &RecordedFolder) -> Vec<DevicePart<'_>> {
    let key = |platform: &String, device: &String| (platform.clone(), format::device(device));
    let of_study = |study: &RecordedStudy| study.points.first().map(|p| key(&p.platform, &p.device));
    let of_rows = folder.rows.iter().filter(|row| !row.on_host()).map(|row| key(&row.platform, &row.device));
    let of_limits = folder.ceilings.iter().map(|row| key(&row.platform, &row.device));
    let keys = distinct(of_rows.chain(folder.studies.iter().filter_map(of_study)).chain(of_limits));
    let runs = groups(&folder.rows, |row| row.run_id.clone());
    keys.into_iter()
        .map(|own: (String, String)| DevicePart {
            rows: runs
                .iter()
                .flat_map(|run: &Vec<Row>| {
                    let home = run.iter().find(|row| !row.on_host()).map(|row| key(&row.platform, &row.device));
                    run.iter()
                        .filter(|row: &&Row| match row.on_host() {
                            true => home.as_ref() == Some(&own),
                            false => key(&row.platform, &row.device) == own,
                        })
                        .cloned()
                        .collect::<Vec<Row>>()
                })
                .collect(),
            studies: folder.studies.iter().filter(|study| of_study(study).as_ref() == Some(&own)).collect(),
            ceilings: folder
                .ceilings
                .iter()
                .filter(|row: &&CeilingRow| key(&row.platform, &row.device) == own)
                .cloned()
                .collect(),
            folder,
            key: own,
        })
        .collect()
}

pub fn is_page(head: &str) -> bool {
    head.contains("<meta name=\"generator\" content=\"gpulab\">")
}

#[cfg(test)]
mod tests;

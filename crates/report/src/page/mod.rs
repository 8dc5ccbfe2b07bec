//! One page of recorded results, as HTML: a file of its own that needs no network and no script.
//!
//! What comes from files is text by construction: markup is made by `html!` alone, which escapes it.

mod device;
mod ladder;

use super::format;
use super::groups::{distinct, experiments, families, groups, sweeps};
use super::peers;
use super::picture::{self, Picture, number, size, sweep};
use super::shown::{Material, finding, question};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use gpulab_kernels::FAMILIES;
use gpulab_record::{Point, Row};
use gpulab_study::count::CountRow;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::Write as _;

const STYLE: &str = include_str!("style.css");

/// The parts that are not folded.
const FIRST: [&str; 2] = ["device", "ladders"];

pub struct DataFile {
    /// Its name without its folder.
    pub name: String,
    pub bytes: Cow<'static, [u8]>,
}

/// The page of `material`, with the files that it is from, to download. Reasons are made of `counts`.
pub fn html(material: &Material, files: &[DataFile], counts: &[CountRow]) -> String {
    let ids = &Cell::new(0);
    let devices = devices(material);
    let names = distinct(devices.iter().map(|(_, device)| format::terminal(device)));
    let title = if names.is_empty() {
        "Recorded results".to_owned()
    } else {
        names.join(", ")
    };
    // Their names in the contents, their headings, and what they hold.
    let mut all: Vec<(&str, String, Option<Markup>)> = Vec::new();
    for (platform, device) in &devices {
        let whose = if devices.len() > 1 {
            format!("{device} ({platform}): ")
        } else {
            String::new()
        };
        let own = &of_device(material, platform, device);
        let all_ladders = ladder::by_family(own);
        let (first, more) = all_ladders.split_at(all_ladders.len().min(FAMILIES.len()));
        let parts = [
            (
                "device",
                "What the device can do".to_owned(),
                device::limits(own),
            ),
            (
                "ladders",
                ladder::heading(first),
                ladder::ladders(first, own, counts, ids),
            ),
            (
                "more ladders",
                format!("more ladders: {}", more.len()),
                ladder::ladders(more, own, counts, ids),
            ),
            (
                "roofline",
                "Ladders under the device's limits".to_owned(),
                ladder::roofline(first, own, ids),
            ),
            (
                "sweeps",
                "Which work-groups are best".to_owned(),
                figures(ids, sweeps(&own.rows), |rows| sweep(rows)),
            ),
            (
                "sizes",
                "How time grows with the problem".to_owned(),
                figures(ids, families(&own.rows), |rows| size(rows, &own.ceilings)),
            ),
            (
                "experiments",
                "What experiments found".to_owned(),
                studies(own, ids),
            ),
            (
                "trust",
                device::heading(own),
                Some(device::trust(own, platform)),
            ),
        ];
        all.extend(parts.map(|(short, heading, body)| (short, whose.clone() + &heading, body)));
    }
    let whole = [
        (
            "other programs",
            "What other programs measured",
            others(material),
        ),
        (
            "commands",
            "The commands that made the data",
            commands(material),
        ),
        ("data", "The data, to download", data(files)),
    ];
    all.extend(whole.map(|(short, heading, body)| (short, heading.to_owned(), body)));
    // Beside ladders the rest is folded.
    let has_ladders = all
        .iter()
        .any(|(short, _, body)| *short == "ladders" && body.is_some());
    let mut contents: Vec<Markup> = Vec::new();
    let mut sections: Vec<Markup> = Vec::new();
    for (short, heading, body) in all {
        let Some(body) = body else { continue };
        let id = next_id(ids, "part");
        contents.push(html! { li { a href=(format!("#{id}")) { (short) } } });
        let is_folded = has_ladders && !FIRST.contains(&short);
        sections.push(section(&id, &prose(&heading), &body, is_folded));
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="gpulab";
                title { (title) ": what gpulab measured" }
                style { (PreEscaped(picture::sheet::style())) (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.brand { "gpulab" }
                    h1 { (title) }
                    p.lead { (lead(material)) }
                }
                nav aria-label="Contents" { ul { @for one in &contents { (one) } } }
                main { @for one in &sections { (one) } }
            }
        }
    };
    page.into_string() + "\n"
}

/// A part of the page; a browser opens a folded one where a link leads into it.
fn section(id: &str, heading: &str, body: &Markup, is_folded: bool) -> Markup {
    let head = html! { h2 #(format!("{id}-h")) { (heading) } };
    html! { section aria-labelledby=(format!("{id}-h")) {
        @if is_folded { details { summary { (head) } div #(id) { (body) } } } @else { (head) div #(id) { (body) } }
    } }
}

/// `Recorded from ... to ... with gpulab 0.1.0.`
fn lead(material: &Material) -> String {
    let of_rows = material.rows.iter().map(|row| (&row.time_utc, &row.gpulab));
    let of_points = material
        .points
        .iter()
        .map(|point| (&point.time_utc, &point.gpulab));
    let of_limits = material
        .ceilings
        .iter()
        .map(|row| (&row.time_utc, &row.gpulab));
    let all: Vec<(&String, &String)> = of_rows.chain(of_points).chain(of_limits).collect();
    let mut days: Vec<&str> = all.iter().filter_map(|of| of.0.split('T').next()).collect();
    days.sort_unstable();
    let versions = distinct(all.iter().map(|of| of.1.as_str())).join(", ");
    let [first, .., last] = &days[..] else {
        return String::new();
    };
    let text = format!(
        "Recorded from {first} to {last} with gpulab {versions}, which times no result that it has not checked."
    );
    format::terminal(&text)
}

/// Platforms and devices in the records. PoCL's versions name one processor by several compilers' targets.
fn devices(material: &Material) -> Vec<(String, String)> {
    let of_rows = material
        .rows
        .iter()
        .filter(|row| !row.on_host())
        .map(|row| key(&row.platform, &row.device));
    let of_points = material
        .points
        .iter()
        .map(|point| key(&point.platform, &point.device));
    let of_limits = material
        .ceilings
        .iter()
        .map(|row| key(&row.platform, &row.device));
    distinct(of_rows.chain(of_points).chain(of_limits))
}

fn key(platform: &str, device: &str) -> (String, String) {
    (platform.to_owned(), format::device(device))
}

/// What is recorded of a device. CPU baselines belong to the device that their run was on.
fn of_device(material: &Material, platform: &str, device: &str) -> Material {
    let is_of = |own: &str, name: &str| own == platform && format::device(name) == device;
    let mut own = Material::default();
    for run in groups(&material.rows, |row| row.run_id.clone()) {
        let first = run.iter().find(|row| !row.on_host());
        let is_home = |row: &Row| {
            let home = if row.on_host() { first } else { Some(row) };
            home.is_some_and(|home| is_of(&home.platform, &home.device))
        };
        own.rows
            .extend(run.iter().filter(|row| is_home(row)).cloned());
    }
    own.points.extend(
        material
            .points
            .iter()
            .filter(|point| is_of(&point.platform, &point.device))
            .cloned(),
    );
    own.ceilings.extend(
        material
            .ceilings
            .iter()
            .filter(|row| is_of(&row.platform, &row.device))
            .cloned(),
    );
    own
}

/// Experiments: the last run of each, whose picture says what it asks and finds.
fn studies(own: &Material, ids: &Cell<usize>) -> Option<Markup> {
    let all = groups(&experiments(&own.points), |points| {
        points[0].experiment.clone()
    });
    let shown: Vec<Markup> = all
        .iter()
        .filter_map(|runs| Some(study(runs.last()?, ids)))
        .collect();
    (!shown.is_empty()).then(|| html! { div.pair { @for study in shown { (study) } } })
}

fn study(points: &[Point], ids: &Cell<usize>) -> Markup {
    let finding = finding(points);
    let id = next_id(ids, "study");
    html! { article.study aria-labelledby=(id) {
        h3 #(id) { (format::terminal(&points[0].experiment)) }
        @match picture::experiment(points, question(points), &finding) {
            Ok(picture) => (figure(ids, &picture)),
            Err(why) => {
                p.question { (prose(question(points))) }
                p { (prose(&finding)) }
                p.quiet { "No picture: " (format::terminal(&why)) "." }
            }
        }
    } }
}

fn others(material: &Material) -> Option<Markup> {
    let all = &material.peers;
    (!all.is_empty()).then(|| {
        html! { @for (name, cells) in all {
            @if let Some((head, rows)) = peers::figures(cells).split_first() { (folded(name, &table(head, rows))) }
        } }
    })
}

/// Each command once, in the order of their first rows.
fn commands(material: &Material) -> Option<Markup> {
    let of_rows = material.rows.iter().map(|row| &row.command);
    let all = distinct(
        of_rows
            .chain(material.points.iter().map(|point| &point.command))
            .filter(|c| !c.is_empty()),
    );
    (!all.is_empty())
        .then(|| html! { pre.commands tabindex="0" { @for command in all { (format::terminal(command)) "\n" } } })
}

/// The files, compressed within the page.
fn data(files: &[DataFile]) -> Option<Markup> {
    (!files.is_empty()).then(|| html! {
        p.quiet { "As gpulab wrote them, compressed by gzip. "
            code { "gpulab help columns" } " says what the columns hold, " code { "gpulab show" } " shows a file again." }
        ul.files { @for file in files {
            @let name = format::terminal(&file.name);
            // Of letters that every system takes.
            @let plain = file.name.replace(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c), "_");
            li { a download=(format!("{plain}.gz")) href=(packed(&file.bytes)) { (name) } " "
                span.quiet { (number::count(file.bytes.len().div_ceil(1024) as u64)) " KiB" } }
        } }
    })
}

/// The bytes as an address that holds them, compressed.
fn packed(bytes: &[u8]) -> String {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to a Vec cannot fail.
    let _ = packed.write_all(bytes);
    format!(
        "data:application/gzip;base64,{}",
        STANDARD.encode(packed.finish().unwrap_or_default())
    )
}

/// An id that no other element of the page has: `last` counts them.
fn next_id(last: &Cell<usize>, kind: &str) -> String {
    last.set(last.get() + 1);
    format!("{kind}-{}", last.get())
}

/// A picture, and its numbers folded below it.
fn figure(ids: &Cell<usize>, picture: &Picture) -> Markup {
    html! { figure {
        (picture.element(&next_id(ids, "picture"), &html! {}))
        details.numbers {
            summary { "the numbers" span.unseen { " of: " (picture.title) } }
            (table(&picture.head, &picture.figures))
        }
    } }
}

/// The pictures of all that can be drawn, side by side where there is room; the first few shown, others folded.
fn figures<T>(
    ids: &Cell<usize>,
    all: Vec<T>,
    draw: impl Fn(&T) -> picture::Drawn,
) -> Option<Markup> {
    const SHOWN: usize = 4;
    let drawn: Vec<Markup> = all
        .iter()
        .filter_map(|one| Some(figure(ids, &draw(one).ok()?)))
        .collect();
    (!drawn.is_empty()).then(|| {
        html! {
            div.pair { @for picture in drawn.iter().take(SHOWN) { (picture) } }
            @if drawn.len() > SHOWN {
                (folded(&format!("{} more", drawn.len() - SHOWN),
                    &html! { div.pair { @for picture in &drawn[SHOWN..] { (picture) } } }))
            }
        }
    })
}

/// What the reader opens when it is wanted.
fn folded(summary: &str, body: &Markup) -> Markup {
    html! { details { summary { (format::terminal(summary)) } (body) } }
}

/// A table whose cells are text; numbers stand at the right. It scrolls where it is wider than the page.
fn table(head: &[String], rows: &[Vec<String>]) -> Markup {
    let mut classes: Vec<Option<&str>> = Vec::new();
    for at in 0..head.len() {
        let mut cells = rows
            .iter()
            .filter_map(|row| row.get(at))
            .filter(|cell| !cell.is_empty())
            .peekable();
        let is_number = cells.peek().is_some()
            && cells
                .all(|cell| cell.starts_with(|c: char| c.is_ascii_digit() || "-−+".contains(c)));
        classes.push(is_number.then_some("n"));
    }
    html! { div.scroll tabindex="0" { table {
        thead { tr { @for (class, cell) in classes.iter().zip(head) { th scope="col" class=[class] { (format::terminal(cell)) } } } }
        tbody { @for row in rows { tr { @for (class, cell) in classes.iter().zip(row) { td class=[class] { (format::terminal(cell)) } } } } }
    } } }
}

/// A sentence as a page has it: no line ends between a number and its sign of per cent.
fn prose(sentence: &str) -> String {
    format::terminal(sentence).replace(" %", "\u{a0}%")
}

/// Sentences, each on its own line; nothing without any.
fn notes(sentences: &[String]) -> Markup {
    html! { @if !sentences.is_empty() { ul.notes { @for sentence in sentences { li { (prose(sentence)) } } } } }
}

pub fn is_page(head: &str) -> bool {
    head.contains("<meta name=\"generator\" content=\"gpulab\">")
}

#[cfg(test)]
mod tests;

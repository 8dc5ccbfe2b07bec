//! What the page was made from: other programs' figures, commands, files.

use super::material::{DataFile, DataPlace, PageMaterial};
use super::parts::{folded, table};
use crate::groups::distinct;
use crate::picture::number;
use crate::{format, peers as peer};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use std::io::Write as _;

pub(super) fn peers(material: &PageMaterial<'_>) -> Option<Markup> {
    let files: Vec<_> = material.folders.iter().flat_map(|own| &own.peers).collect();
    let figures = |cells: &[Vec<String>]| {
        let all = peer::figures(cells);
        all.split_first().map(|(head, rows)| table(head, rows)).unwrap_or_default()
    };
    (!files.is_empty()).then(|| html! { @for (name, cells) in files { (folded(name, &figures(cells))) } })
}

/// Each command once, in the order of their first rows.
pub(super) fn commands(material: &PageMaterial<'_>) -> Option<Markup> {
    let of_rows = material.folders.iter().flat_map(|own| &own.rows).map(|row| &row.command);
    let points = material.folders.iter().flat_map(|own| &own.studies).flat_map(|study| &study.points);
    let commands = of_rows.chain(points.map(|point| &point.command));
    let all = distinct(commands.filter(|command| !command.is_empty()));
    (!all.is_empty())
        .then(|| html! { pre.commands tabindex="0" { @for command in all { (format::terminal(command)) "\n" } } })
}

/// The files: compressed within the page, or links to where they lie.
pub(super) fn files(material: &PageMaterial<'_>) -> Option<Markup> {
    let files: Vec<&DataFile> = material.folders.iter().flat_map(|own| &own.files).collect();
    let is_held = files.iter().any(|file| matches!(file.place, DataPlace::Held(_)));
    (!files.is_empty()).then(|| html! {
        p.quiet { "As gpulab wrote them" @if is_held { ", compressed by gzip" } ". "
            code { "gpulab help columns" } " says what the columns hold, " code { "gpulab show" } " shows a file again." }
        ul.files { @for file in files {
            li { (link(file)) " " span.quiet { (number::count(file.bytes.div_ceil(1024) as u64)) " KiB" } }
        } }
    })
}

fn link(file: &DataFile) -> Markup {
    let name = format::terminal(&file.name);
    // Of letters that every system takes.
    let plain = file.name.replace(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c), "_");
    match &file.place {
        DataPlace::Linked(address) => html! { a href=(address) { (name) } },
        DataPlace::Held(bytes) => match packed(bytes) {
            Some(address) => html! { a download=(format!("{plain}.gz")) href=(address) { (name) } },
            None => html! { (name) },
        },
    }
}

/// The bytes as an address that holds them, compressed.
fn packed(bytes: &[u8]) -> Option<String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).ok()?;
    Some(format!("data:application/gzip;base64,{}", STANDARD.encode(packed.finish().ok()?)))
}

//! What the page was made from: other programs' figures, commands, files.

use super::parts::{folded, table};
use super::{DataFile, PageMaterial};
use crate::report::{format, peers as peer};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use std::io::Write as _;

/// The figures of other programs.
pub(super) fn peers(files: &[(String, Vec<Vec<String>>)]) -> Option<Markup> {
    let figures = |cells: &Vec<Vec<String>>| {
        let all = peer::figures(cells);
        all.split_first().map(|(head, rows)| table(head, rows)).unwrap_or_default()
    };
    (!files.is_empty()).then(|| html! { @for (name, cells) in files { (folded(name, &figures(cells))) } })
}

/// Each command once, in the order of their first rows.
pub(super) fn commands(material: &PageMaterial) -> Option<Markup> {
    let of_rows = material.rows.iter().map(|row| &row.command);
    let of_points = material.studies.iter().flat_map(|study| &study.points).map(|point| &point.command);
    let mut all: Vec<&String> = Vec::new();
    for command in of_rows.chain(of_points) {
        if !command.is_empty() && !all.contains(&command) {
            all.push(command);
        }
    }
    (!all.is_empty()).then(|| html! { pre.commands tabindex="0" { @for command in all { (format::terminal(command)) "\n" } } })
}

/// The files, compressed, within links.
pub(super) fn files(files: &[DataFile]) -> Option<Markup> {
    let links = files.iter().filter_map(|file| Some((file, link(&file.bytes)?)));
    (!files.is_empty()).then(|| html! {
        p.quiet { "CSV or JSON as gpulab wrote it, compressed by gzip; " code { "gpulab columns" } " says what the columns hold, "
            code { "gunzip" } " and " code { "gpulab show" } " show a file again." }
        ul.files { @for (file, link) in links {
            li { a download=(format!("{}.gz", plain(&file.name))) href=(link) { (format::terminal(&file.name)) }
                " " span.quiet { (kib(file.bytes.len())) } }
        } }
    })
}

fn kib(bytes: usize) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

/// A file's name of letters that every system takes.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// The bytes as an address that holds them, compressed.
fn link(bytes: &[u8]) -> Option<String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).ok()?;
    Some(format!("data:application/gzip;base64,{}", STANDARD.encode(packed.finish().ok()?)))
}

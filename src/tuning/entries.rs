//! What is remembered of searches, in words.

use crate::adopt::family_of_file;
use crate::prelude::*;
use crate::record::params_text;
use crate::report::wrap::{hung, wrapped};
use crate::tune::{TunedEntry, TunedFile, source_hash};

/// `transpose v7 wide`, or `transpose best rung: v7 wide`.
fn what(entry: &TunedEntry) -> String {
    let label = family(entry).and_then(|family| Some(family.rung(&entry.variant)?.label()));
    let label = label.unwrap_or_else(|| entry.variant.clone());
    let best = if entry.rung.is_none() { "best rung: " } else { "" };
    format!("{} {best}{label}", entry.family)
}

fn family(entry: &TunedEntry) -> Option<Family> {
    match &entry.file {
        None => built_in(&entry.family).cloned(),
        Some(file) => family_of_file(&mut Registry::default(), Path::new(file), None).ok(),
    }
}

fn size(entry: &TunedEntry) -> String {
    let form = built_in(&entry.family).map_or(if entry.m == 1 { Form::Vector } else { Form::Matrix }, |own| own.form);
    entry.size.text(form)
}

fn settings(entry: &TunedEntry) -> String {
    let params = params_text(&entry.params);
    format!("wg {}{}{params}", entry.ran_wg.unwrap_or(entry.wg), if params.is_empty() { "" } else { " " })
}

/// The time beside that of the rung's default, if that has one. The default itself is exactly as fast.
fn gain(entry: &TunedEntry) -> Option<String> {
    Some(match entry.default_x? {
        1.0 => "its default".to_owned(),
        x => format!("{x:.2} times as fast as by default"),
    })
}

/// Whether the kernels that come with this program, or those of the file, are those that were tuned.
fn is_current(entry: &TunedEntry) -> bool {
    let Some(family) = family(entry) else { return false };
    let rungs = match &entry.rung {
        Some(variant) => family.rung(variant).into_iter().collect(),
        None => family.ladder.iter().collect::<Vec<_>>(),
    };
    source_hash(&rungs, &Sources::default()).is_ok_and(|hash| hash == entry.source)
}

pub(crate) fn head(file: &TunedFile, width: usize) -> String {
    let text = format!("{} ({}, {})", format::device(&file.device), file.platform, file.driver);
    wrapped(&text, "", "  ", width)
}

pub(crate) fn details(entry: &TunedEntry, width: usize) -> String {
    let rows = if entry.m == 1 { String::new() } else { format!(" x {}", format::count(entry.m)) };
    let limit = entry
        .ceiling_pct
        .map_or_else(String::new, |share| format!(", {} of the limit", format::percent(share / 100.0)));
    let default = gain(entry).unwrap_or_else(|| "the default has no time".to_owned());
    let other = if entry.file.is_some() { ": not those of the file" } else { ": not those of this program" };
    let lines = [
        ("settings", settings(entry)),
        ("for", format!("{}, {}, {}", entry.dtype, size(entry), params_text(&entry.choices))),
        (
            "time",
            format!("{} at n = {}{rows}{limit}; {default}", format::time(entry.t_median_s), format::count(entry.n)),
        ),
        ("tuned", format!("{}, {} configurations tried, gpulab {}", entry.time_utc, entry.tried, entry.gpulab)),
        ("kernels", format!("SHA-256 {}{}", entry.source, if is_current(entry) { "" } else { other })),
    ];
    let file = entry.file.as_ref().map(|file| ("file", file.clone()));
    format!(
        "\n  {}\n{}",
        what(entry),
        lines
            .iter()
            .chain(&file)
            .map(|(name, text): &(&str, String)| hung(text.trim_end_matches(", "), &format!("    {name:<9}"), width))
            .collect::<String>()
    )
}

pub(crate) fn line(entry: &TunedEntry, width: usize) -> String {
    let choices = params_text(&entry.choices);
    let gap = if choices.is_empty() { "" } else { ", " };
    let gain = gain(entry).map_or_else(String::new, |gain| format!(", {gain}"));
    let other = if is_current(entry) { "" } else { " (of other kernel sources)" };
    let text =
        format!("{}, {}{gap}{choices}, {}: {}{gain}{other}", what(entry), entry.dtype, size(entry), settings(entry));
    wrapped(&text, "  ", "    ", width)
}

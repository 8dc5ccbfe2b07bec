//! `gpulab tuned`: what tuning found and is remembered.

use crate::adopt::Brought;
use crate::cli::{Global, TunedAction};
use crate::console::{self, Out, note};
use crate::device::{doctor, select};
use crate::kernels::{Sources, built_in};
use crate::record::params_text;
use crate::report::format;
use crate::report::wrap::wrapped;
use crate::store::Deferred;
use crate::terminal::say;
use crate::tune::{TunedEntry, TunedFile, TuningMemory, all_tuned, source_hash};
use crate::{Error, files};
use std::path::Path;

/// Lists, shows, forgets, writes or reads entries.
///
/// # Errors
/// No folder for data, no such device or family, files that cannot be read or written.
pub fn run(out: &mut Out, global: &Global, action: Option<&TunedAction>) -> Result<(), Error> {
    let memory = TuningMemory::open()?;
    match action {
        Some(TunedAction::Import { file }) => import(out, &memory, file),
        Some(TunedAction::Export { file }) => export(&memory, global, file),
        None | Some(TunedAction::List) => list(out, &memory, global),
        Some(TunedAction::Show { family }) => show(out, &memory, global, family.as_deref()),
        Some(TunedAction::Clear { family }) => clear(out, &memory, global, family.as_deref()),
    }
}

/// What is remembered of the device that was chosen, or of every device. A damaged file is named, and left out.
fn remembered(memory: &TuningMemory, global: &Global) -> Result<Vec<TunedFile>, Error> {
    let readable = |file: Result<TunedFile, Error>| file.inspect_err(|error| say(&format!("{error}; left out"))).ok();
    let mut all: Vec<TunedFile> = all_tuned(memory).into_iter().filter_map(readable).collect();
    if let Some(selector) = &global.device {
        let platforms = doctor::platforms()?;
        let wanted = TunedFile::empty(select::select(&platforms, Some(selector))?);
        all.retain(|file| file.is_of(&wanted));
    }
    all.retain(|file| !file.entries.is_empty());
    Ok(all)
}

fn check_family(name: Option<&str>) -> Result<(), Error> {
    name.map_or(Ok(()), |name| Brought::new(name, None).map(drop))
}

/// As [`remembered`], of one family or of all.
fn chosen(memory: &TuningMemory, global: &Global, name: Option<&str>) -> Result<Vec<TunedFile>, Error> {
    check_family(name)?;
    let mut all = remembered(memory, global)?;
    for file in &mut all {
        file.entries.retain(|entry| name.is_none_or(|name| entry.family == name));
    }
    all.retain(|file| !file.entries.is_empty());
    match all.is_empty() {
        true => Err(Error::Failed("nothing is tuned yet: gpulab tune FAMILY searches and remembers".into())),
        false => Ok(all),
    }
}

/// `transpose v7 wide`, or `transpose best rung: v7 wide`.
fn what(entry: &TunedEntry) -> String {
    let rung = built_in(&entry.family).and_then(|family| family.rung(&entry.variant));
    let label = rung.map_or_else(|| entry.variant.clone(), |rung| rung.label());
    let best = if entry.rung.is_none() { "best rung: " } else { "" };
    format!("{} {best}{label}", entry.family)
}

fn size(entry: &TunedEntry) -> String {
    built_in(&entry.family).map_or_else(String::new, |family| entry.size.text(family.form))
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

/// Whether the kernels that come with this program are those that were tuned.
fn is_current(entry: &TunedEntry) -> bool {
    let Some(family) = built_in(&entry.family) else { return false };
    let rungs = match &entry.rung {
        Some(variant) => family.rung(variant).into_iter().collect(),
        None => family.ladder.iter().collect::<Vec<_>>(),
    };
    source_hash(&rungs, &Sources::default()).is_ok_and(|hash| hash == entry.source)
}

fn head(file: &TunedFile, width: usize) -> String {
    let text = format!("{} ({}, {})", format::device(&file.device), file.platform, file.driver);
    wrapped(&text, "", "  ", width)
}

fn list(out: &mut Out, memory: &TuningMemory, global: &Global) -> Result<(), Error> {
    let width = console::width();
    for file in chosen(memory, global, None)? {
        out.text(&head(&file, width))?;
        for entry in &file.entries {
            let choices = params_text(&entry.choices);
            let gap = if choices.is_empty() { "" } else { ", " };
            let gain = gain(entry).map_or_else(String::new, |gain| format!(", {gain}"));
            let other = if is_current(entry) { "" } else { " (of other kernel sources)" };
            let text = format!(
                "{}, {}{gap}{choices}, {}: {}{gain}{other}",
                what(entry),
                entry.dtype,
                size(entry),
                settings(entry)
            );
            out.text(&wrapped(&text, "  ", "    ", width))?;
        }
    }
    Ok(())
}

fn show(out: &mut Out, memory: &TuningMemory, global: &Global, name: Option<&str>) -> Result<(), Error> {
    let width = console::width();
    for file in chosen(memory, global, name)? {
        out.text(&head(&file, width))?;
        out.text(&wrapped(&file.path(memory.folder()).display().to_string(), "  ", "    ", width))?;
        for entry in &file.entries {
            out.text(&details(entry, width))?;
        }
    }
    Ok(())
}

fn details(entry: &TunedEntry, width: usize) -> String {
    let rows = if entry.m == 1 { String::new() } else { format!(" x {}", format::count(entry.m)) };
    let limit = entry
        .ceiling_pct
        .map_or_else(String::new, |share| format!(", {} of the limit", format::percent(share / 100.0)));
    let default = gain(entry).unwrap_or_else(|| "the default has no time".to_owned());
    let lines = [
        ("settings", settings(entry)),
        ("for", format!("{}, {}, {}", entry.dtype, size(entry), params_text(&entry.choices))),
        (
            "time",
            format!("{} at n = {}{rows}{limit}; {default}", format::time(entry.t_median_s), format::count(entry.n)),
        ),
        ("tuned", format!("{}, {} configurations tried, gpulab {}", entry.time_utc, entry.tried, entry.gpulab)),
        (
            "kernels",
            format!("SHA-256 {}{}", entry.source, if is_current(entry) { "" } else { ": not those of this program" }),
        ),
    ];
    let line = |(name, text): &(&str, String)| {
        wrapped(text.trim_end_matches(", "), &format!("    {name:<9}"), &" ".repeat(13), width)
    };
    format!("\n  {}\n{}", what(entry), lines.iter().map(line).collect::<String>())
}

fn clear(out: &mut Out, memory: &TuningMemory, global: &Global, name: Option<&str>) -> Result<(), Error> {
    check_family(name)?;
    let mut forgotten = 0;
    for file in remembered(memory, global)? {
        forgotten += memory.forget(&file, |entry| name.is_none_or(|name| entry.family == name))?;
    }
    out.text(&format!("entries forgotten: {forgotten}\n"))
}

fn export(memory: &TuningMemory, global: &Global, path: &str) -> Result<(), Error> {
    let mut file = Deferred::open(path)?;
    let all = remembered(memory, global)?;
    let text = serde_json::to_string_pretty(&all).map_err(|e| Error::Failed(format!("cannot write JSON: {e}")))?;
    file.replace(|out| out.write_all((text + "\n").as_bytes()).and_then(|()| out.flush()))
}

fn import(out: &mut Out, memory: &TuningMemory, path: &Path) -> Result<(), Error> {
    let name = path.display();
    let text = files::read_to_string(path).map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
    let bad = |why: String| {
        Error::Usage(format!("{name} is not a file of gpulab tuned export: {}", why.replace(char::is_control, " ")))
    };
    let all: Vec<TunedFile> = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
    all.iter().try_for_each(|file| file.check().map_err(bad))?;
    let mut taken = 0;
    for file in &all {
        memory.add(file, &file.entries)?.iter().for_each(|why| note(why));
        taken += file.entries.len();
    }
    out.text(&format!("imported entries: {taken}; each is used on its own device and driver only\n"))
}

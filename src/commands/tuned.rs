//! `gpulab tuned`: what tuning found and is remembered.

use crate::adopt::Brought;
use crate::cli::TunedAction;
use crate::console;
use crate::device::{doctor, select};
use crate::outputs;
use crate::prelude::*;
use crate::report::wrap::wrapped;
use crate::store::Deferred;
use crate::tune::{TunedEntry, TunedFile, TuningMemory, all_tuned};
use crate::tuning::{details, head, line};

/// Lists, shows, forgets, writes or reads entries.
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

fn is_of(entry: &TunedEntry, name: Option<&str>) -> bool {
    let file = |name: &str| Some(Path::new(name).canonicalize().ok()?.display().to_string());
    name.is_none_or(|name| entry.family == name || entry.file.is_some() && entry.file == file(name))
}

/// Refuses a name that is neither a family's nor any entry's.
fn check_family(all: &[TunedFile], name: Option<&str>) -> Result<(), Error> {
    match name {
        Some(name) if all.iter().flat_map(|file| &file.entries).all(|entry| !is_of(entry, Some(name))) => {
            Brought::new(name).map(drop)
        }
        _ => Ok(()),
    }
}

/// As [`remembered`], of one family or of all.
fn chosen(memory: &TuningMemory, global: &Global, name: Option<&str>) -> Result<Vec<TunedFile>, Error> {
    let mut all = remembered(memory, global)?;
    check_family(&all, name)?;
    for file in &mut all {
        file.entries.retain(|entry| is_of(entry, name));
    }
    all.retain(|file| !file.entries.is_empty());
    match all.is_empty() {
        true => Err(Error::Failed("nothing is tuned yet: gpulab tune FAMILY searches and remembers".into())),
        false => Ok(all),
    }
}

fn list(out: &mut Out, memory: &TuningMemory, global: &Global) -> Result<(), Error> {
    let width = console::width();
    for file in chosen(memory, global, None)? {
        out.text(&head(&file, width))?;
        for entry in &file.entries {
            out.text(&line(entry, width))?;
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

fn clear(out: &mut Out, memory: &TuningMemory, global: &Global, name: Option<&str>) -> Result<(), Error> {
    let all = remembered(memory, global)?;
    check_family(&all, name)?;
    let mut forgotten = 0;
    for file in all {
        forgotten += memory.forget(&file, |entry| is_of(entry, name))?;
    }
    out.text(&format!("entries forgotten: {forgotten}\n"))
}

fn export(memory: &TuningMemory, global: &Global, path: &str) -> Result<(), Error> {
    let mut file = Deferred::open(path)?;
    let all = remembered(memory, global)?;
    outputs::replace(&mut file, outputs::json(&all)?)
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

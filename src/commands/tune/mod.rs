//! `gpulab tune`: the search for a family's fastest settings, and what is remembered of searches.

mod search;

use crate::bench::{self, Input};
use crate::brought::{Brought, family_of_file};
use crate::cli::{Global, TuneArgs};
use crate::console::{self, print};
use crate::device::{doctor, select};
use crate::kernels::{Form, Registry, Sources, built_in};
use crate::record::params_text;
use crate::report::format;
use crate::report::wrap::wrapped;
use crate::terminal::say;
use crate::tune::{TunedEntry, TunedFile, source_hash};
use crate::{Error, Result, ceilings};
use gpulab_model::Joined;
use search::{AskedTuning, Tuning};
use std::path::Path;

pub use search::narrowed;

/// Searches, measures the best again, remembers them, and explains; or lists or forgets what is remembered.
pub fn run(global: &Global, options: &TuneArgs) -> Result<()> {
    match options.subject.name() {
        name if options.list => list(global, name),
        name if options.forget => forget(global, name),
        _ => search(global, options),
    }
}

fn search(global: &Global, options: &TuneArgs) -> Result<()> {
    let brought = Brought::beside(
        options.subject.name().unwrap_or_default(),
        options.rungs.own.as_deref(),
    )?;
    let asked = AskedTuning::new(options, &brought)?;
    bench::check_sources(&asked.rungs, options.given.cl_dir.as_deref(), global.quiet)?;
    let data = Input {
        family: asked.family,
        shape: asked.shape,
        dtype: asked.dtype,
        params: &asked.choices,
    };
    let setup = global.setup(options.given.cl_dir.as_ref(), &brought.registry);
    let executor = data.open(setup, options.in_process, options.deadline)?;
    let space = asked.space(options, &*executor)?;
    space
        .narrowings
        .iter()
        .filter_map(narrowed)
        .for_each(|text| global.say(&text));
    let info = executor.info().clone();
    let tuning = Tuning::open(&asked, options, global, &space, executor)?;
    bench::announce(global, &info);
    tuning.run(global)
}

/// What is remembered of the device that was chosen, or of every device. A damaged file is named, and left out.
fn remembered(global: &Global) -> Result<Vec<TunedFile>> {
    let mut all = Vec::new();
    for file in TunedFile::all(&ceilings::folder()?) {
        match file {
            Ok(file) => all.push(file),
            Err(error) => say(&format!("{error}; left out")),
        }
    }
    if let Some(selector) = &global.device {
        let platforms = doctor::platforms()?;
        let wanted = TunedFile::empty(select::select(&platforms, Some(selector))?);
        all.retain(|file| file.is_of(&wanted));
    }
    Ok(all)
}

/// As [`remembered`], of one family or of all. Errors: nothing is.
fn chosen(global: &Global, name: Option<&str>) -> Result<Vec<TunedFile>> {
    let path =
        name.and_then(|name| Some(Path::new(name).canonicalize().ok()?.display().to_string()));
    let mut all = remembered(global)?;
    for file in &mut all {
        file.entries.retain(|entry| {
            let is_of_file = entry.file.is_some() && entry.file == path;
            name.is_none_or(|name| entry.family == name) || is_of_file
        });
    }
    all.retain(|file| !file.entries.is_empty());
    if all.is_empty() {
        // A name that is no family's is told as such.
        name.map_or(Ok(()), |name| Brought::new(name).map(drop))?;
        return Err(Error::Failed(
            "nothing is tuned yet: gpulab tune FAMILY searches and remembers".into(),
        ));
    }
    Ok(all)
}

fn list(global: &Global, name: Option<&str>) -> Result<()> {
    let width = console::width();
    for file in chosen(global, name)? {
        let head = format!(
            "{} ({}, {})",
            format::device(&file.device),
            file.platform,
            file.driver
        );
        print(&wrapped(&head, "", "  ", width))?;
        for entry in &file.entries {
            print(&wrapped(&line(entry), "  ", "    ", width))?;
        }
    }
    Ok(())
}

/// `transpose v7 wide, f32, 2^10 to 2^11 a side: wg 64 tile=16, 1.20 times as fast as by default`.
fn line(entry: &TunedEntry) -> String {
    let family = match &entry.file {
        None => built_in(&entry.family).cloned(),
        Some(file) => family_of_file(&mut Registry::default(), Path::new(file), None).ok(),
    };
    let label = family
        .as_ref()
        .and_then(|family| Some(family.rung(&entry.variant)?.label()));
    let label = label.unwrap_or_else(|| entry.variant.clone());
    let best = if entry.rung.is_none() {
        "best rung: "
    } else {
        ""
    };
    let form = built_in(&entry.family).map_or(
        if entry.m == 1 {
            Form::Vector
        } else {
            Form::Matrix
        },
        |own| own.form,
    );
    let kind = [
        entry.dtype.to_string(),
        entry.size.text(form),
        params_text(&entry.choices),
    ];
    let kind = kind
        .iter()
        .filter(|text| !text.is_empty())
        .cloned()
        .joined(", ");
    let settings = format!(
        "wg {} {}",
        entry.ran_wg.unwrap_or(entry.wg),
        params_text(&entry.params)
    );
    let gain = match entry.default_x {
        None => String::new(),
        Some(1.0) => ", its default".to_owned(),
        Some(x) => format!(", {x:.2} times as fast as by default"),
    };
    // Whether the kernels that come with this program, or those of the file, are those that were tuned.
    let is_current = family.is_some_and(|family| {
        let rungs = match &entry.rung {
            Some(variant) => family.rung(variant).into_iter().collect(),
            None => family.ladder.iter().collect::<Vec<_>>(),
        };
        source_hash(&rungs, &Sources::default()).is_ok_and(|hash| hash == entry.source)
    });
    let other = if is_current {
        ""
    } else {
        " (of other kernel sources)"
    };
    format!(
        "{} {best}{label}, {kind}: {}{gain}{other}",
        entry.family,
        settings.trim_end()
    )
}

fn forget(global: &Global, name: Option<&str>) -> Result<()> {
    let all = chosen(global, name)?;
    all.iter()
        .try_for_each(|file| file.forget(&ceilings::folder()?))?;
    print(&format!(
        "entries forgotten: {}\n",
        all.iter().map(|file| file.entries.len()).sum::<usize>()
    ))
}

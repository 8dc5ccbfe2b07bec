//! `gpulab list`: what there is to run, and the roads through the sources.

use super::{Out, lab};
use crate::Error;
use crate::kernels::{FAMILIES, Family, Rung};
use crate::report::sources;
use std::fmt::Write as _;

/// Lists all families, or one with its rungs' ideas and costs.
///
/// # Errors
/// [`Error::Usage`] for an unknown family.
pub fn run(out: &mut Out, family: Option<&str>) -> Result<(), Error> {
    let Some(name) = family else {
        let overview: String = FAMILIES.iter().map(|f| overview(f)).collect();
        let [experiments, roads] = [lab::overview("  "), sources::overview("  ")];
        let text =
            format!("{overview}experiments: gpulab lab NAME\n{experiments}sources: gpulab list --source NAME\n{roads}");
        return out.text(&text);
    };
    match FAMILIES.iter().find(|f| f.name == name) {
        Some(family) => out.text(&details(family)),
        None => {
            let names: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
            Err(Error::Usage(format!("there is no family {name:?}; there is {}", names.join(", "))))
        }
    }
}

/// Prints the road through one of the sources: what to run for each of its parts, and what to look for.
///
/// # Errors
/// [`Error::Usage`] for an unknown source.
pub fn road(out: &mut Out, name: &str) -> Result<(), Error> {
    let all = sources::all();
    match all.iter().find(|source| source.name() == name.to_lowercase()) {
        Some(source) => out.text(&sources::text(source)),
        None => {
            let names: Vec<String> = all.iter().map(sources::CitedSource::name).collect();
            Err(Error::Usage(format!("there is no source {name:?}; there is {}", names.join(", "))))
        }
    }
}

fn heading(family: &Family) -> String {
    let dtypes: Vec<&str> = family.dtypes.iter().map(|d| d.name()).collect();
    format!("{}: {} ({})\n", family.name, family.about, dtypes.join(", "))
}

fn overview(family: &Family) -> String {
    let mut text = heading(family);
    for rung in family.kernels() {
        let _ = writeln!(text, "  {:>2} {:<14} {}", number(rung), rung.variant(), rung.header("Idea").unwrap_or(""));
    }
    text
}

/// A rung's number; a dash for a reference.
fn number(rung: &Rung) -> String {
    rung.number().map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn details(family: &'static Family) -> String {
    let mut text = heading(family);
    for rung in family.kernels() {
        let _ = writeln!(text, "\n  {} {} (cl/{})", number(rung), rung.variant(), rung.path);
        for label in ["Idea", "Removes", "Remains"] {
            let _ = writeln!(text, "     {label:<8} {}", rung.header(label).unwrap_or(""));
        }
        if !rung.tunables.is_empty() {
            let names: Vec<&str> = rung.tunables.iter().map(|t| t.name).collect();
            let _ = writeln!(text, "     Tunables {}", names.join(", "));
        }
    }
    text.push_str("\n  Tunables\n");
    for tunable in family.tunables() {
        let _ = writeln!(text, "     {:<8} {} [{}]", tunable.name, tunable.about, tunable.values.join(", "));
    }
    text
}

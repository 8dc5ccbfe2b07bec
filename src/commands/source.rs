//! `gpulab source`: the kernels of a rung or an experiment, as they stand in their files or with what they include in place; and
//! what changed from one rung to another.

use super::elsewhere::{RecordedGpu, USUAL};
use super::explain::{Lesson, lesson, rung_of};
use crate::brought::Brought;
use crate::cli::Global;
use crate::console::{self, print};
use crate::kernels::{self, Family, Rung, Sources, built_in};
use crate::report::diff::{self, KernelFile};
use crate::report::explain::short_name;
use crate::report::format::Screen;
use crate::{Error, Result, bench, usage_error};
use std::path::Path;

/// Prints the one that is named, or the difference of two.
pub fn run(global: &Global, what: &[String], is_expanded: bool, dir: Option<&Path>) -> Result<()> {
    let sources = Sources {
        dir: dir.map(Path::to_owned),
    };
    let [name] = what else {
        if is_expanded {
            return usage_error("--expanded: it is of one kernel; leave the others out");
        }
        return changes(global, what, &sources);
    };
    let paths = paths(&lesson(name)?)?;
    bench::check_files(&paths, dir, global.quiet)?;
    for path in &paths {
        let mut rungs = kernels::everything()
            .flat_map(|family| family.kernels().map(move |rung| (family, rung)));
        let text = match rungs.find(|(_, rung)| rung.path == *path) {
            Some((family, rung)) if is_expanded => sources
                .assemble_rung(rung)
                .map(|text| whole(family, rung, &text)),
            None if is_expanded => sources.assemble(path),
            _ => sources.read(path),
        };
        let text = text.map_err(|stop| Error::Failed(stop.reason))?;
        print(&if paths.len() == 1 {
            text
        } else {
            format!("// cl/{path}\n{text}\n")
        })?;
    }
    Ok(())
}

/// Prints what the headers of two rungs say, and the lines of code that differ.
fn changes(global: &Global, what: &[String], sources: &Sources) -> Result<()> {
    let names = match what {
        [family, from, to] => [from, to].map(|rung| format!("{family}:{rung}")),
        rungs => [0, 1].map(|at| rungs.get(at).cloned().unwrap_or_default()),
    };
    let old = file(&names[0], global, sources)?;
    let new = file(&names[1], global, sources)?;
    if old.path == new.path {
        return usage_error(format!("both are {}: name two rungs", new.label));
    }
    print(&diff::text(
        &old,
        &new,
        console::width(),
        console::color(global.color),
    ))?;
    let [(family, from), (other, to)] =
        [0, 1].map(|at| names[at].rsplit_once(':').unwrap_or_default());
    let own = built_in(&family.to_lowercase());
    // Of the rungs that were recorded, and not of an edited one.
    let is_recorded = family == other && sources.dir.is_none() && !global.quiet;
    let Some(family) = own.filter(|_| is_recorded) else {
        return Ok(());
    };
    let gpu = RecordedGpu::of(USUAL, family)?;
    match gpu.step(family, [rung_of(family, from)?, rung_of(family, to)?])? {
        Some((.., told)) => print(&format!("\n{}", Screen::stdout(false).wrap(&told))),
        None => Ok(()),
    }
}

fn file(name: &str, global: &Global, sources: &Sources) -> Result<KernelFile> {
    let Some((family, rung)) = name.rsplit_once(':') else {
        return usage_error(format!(
            "{name:?} names no rung: give two, as in reduce:2 reduce:3"
        ));
    };
    let Brought { family, .. } = &Brought::new(&family.to_lowercase())?;
    let rung = rung_of(family, rung)?;
    bench::check_files(&[&rung.path], sources.dir.as_deref(), global.quiet)?;
    let text = rung
        .own_text()
        .map_or_else(|| sources.read(&rung.path), |text| Ok(text.to_owned()));
    let text = text.map_err(|stop| Error::Failed(stop.reason))?;
    Ok(KernelFile::new(family, rung, text))
}

/// The text behind values of the macros that it takes from the host, unless a program gives them itself.
fn whole(family: &Family, rung: &Rung, text: &str) -> String {
    let given = kernels::given(family, rung, text);
    let values: String = given
        .iter()
        .filter(|(name, _)| !name.starts_with('-'))
        .map(|(name, value)| format!("#ifndef {name}\n#define {name} {value}\n#endif\n"))
        .collect();
    values + text
}

/// The files, as paths below `cl/`.
fn paths(lesson: &Lesson) -> Result<Vec<&'static str>> {
    match lesson {
        Lesson::Kernel(_, rung) => Ok(vec![&*rung.path]),
        Lesson::Word(_) => usage_error("a word has no kernel: gpulab explain says what it means"),
        Lesson::Ladder(family) => {
            let rungs: Vec<&'static Rung> = family.kernels().collect();
            match rungs[..] {
                [only] => Ok(vec![&*only.path]),
                _ => {
                    let first = family
                        .ladder
                        .first()
                        .map_or_else(String::new, |rung| short_name(family, rung));
                    usage_error(format!(
                        "{} has {} rungs: choose one, as in {first}",
                        family.name,
                        rungs.len()
                    ))
                }
            }
        }
        Lesson::Study(experiment) => match experiment.sources() {
            none if none.is_empty() => {
                let why = "it moves data between host and device, and runs no kernel";
                usage_error(format!("{} has no kernel source: {why}", experiment.name))
            }
            paths => Ok(paths),
        },
    }
}

//! `gpulab diff`: what changed from one rung to another.

use super::explain::rung_of;
use crate::adopt::Brought;
use crate::bench;
use crate::cli::DiffArgs;
use crate::console;
use crate::prelude::*;
use crate::report::diff::{self, KernelFile};

/// Prints what the two headers say, and the lines of code that differ.
pub fn run(out: &mut Out, global: &Global, options: &DiffArgs) -> Result<(), Error> {
    let names = match &options.what[..] {
        [family, from, to] => [from, to].map(|rung| format!("{family}:{rung}")),
        rungs => [0, 1].map(|at| rungs.get(at).cloned().unwrap_or_default()),
    };
    let [old, new] = names.map(|name| file(&name, global, options));
    let old = old?;
    let new = new?;
    if old.path == new.path {
        return Err(Error::Usage(format!("both are {}: name two rungs", new.label)));
    }
    let text = diff::text(&old, &new, console::width(), console::color(global.color));
    out.text(&text)
}

fn file(name: &str, global: &Global, options: &DiffArgs) -> Result<KernelFile, Error> {
    let Some((family, rung)) = name.rsplit_once(':') else {
        return Err(Error::Usage(format!("{name:?} names no rung: give two, as in reduce:2 reduce:3")));
    };
    let Brought { family, .. } = &Brought::new(&family.to_lowercase())?;
    let rung = rung_of(family, rung)?;
    bench::check_files(&[&rung.path], options.kernels.cl_dir.as_deref(), global.quiet)?;
    let sources = Sources { dir: options.kernels.cl_dir.clone() };
    let text = rung.own_text().map_or_else(|| sources.read(&rung.path), |text| Ok(text.to_owned()));
    let text = text.map_err(|stop| Error::Failed(stop.reason))?;
    Ok(KernelFile { label: format!("{} {}", family.name, rung.label()), path: format!("cl/{}", rung.path), text })
}

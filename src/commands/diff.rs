//! `gpulab diff`: what changed from one rung to another.

use crate::adopt::Brought;
use crate::bench;
use crate::cli::DiffArgs;
use crate::console;
use crate::prelude::*;
use crate::report::diff::{self, DiffLayout, KernelFile};
use crate::terminal::Stdout;

/// Prints what the two headers say, and the lines of code that differ.
pub fn run(out: &mut Out, global: &Global, options: &DiffArgs) -> Result<(), Error> {
    let [from, to] = [0, 1].map(|at| options.what.get(at).map_or("", String::as_str));
    let sources = Sources { dir: options.kernels.cl_dir.clone() };
    let from = file(from, &sources, global.quiet)?;
    let to = file(to, &sources, global.quiet)?;
    if from.path == to.path {
        return Err(Error::Usage(format!("both are {}: name two rungs", from.label)));
    }
    let screen = screen(global.color);
    let layout = DiffLayout::of(Stdout.is_terminal(), screen.width);
    out.text(&diff::text(&from, &to, layout, console::width().min(screen.width), screen))
}

fn file(what: &str, sources: &Sources, quiet: bool) -> Result<KernelFile, Error> {
    let (brought, list) = Brought::of(&what.to_lowercase(), None)?;
    if brought.own.is_none() && list.is_none() {
        return Err(Error::Usage(format!("{what}: name a rung, as in gpulab diff {what}:2 {what}:3")));
    }
    let rung = brought.rung(what, list.as_deref())?;
    let own = rung.own_text();
    if own.is_none() {
        bench::check_files(&[&rung.path], sources.dir.as_deref(), quiet)?;
    }
    let text = own.map_or_else(|| sources.read(&rung.path), |text| Ok(text.to_owned()));
    let text = text.map_err(|stop| Error::Failed(stop.reason))?;
    let label = format!("{} {}", brought.family.name, rung.label());
    Ok(KernelFile { label, path: format!("cl/{}", rung.path), text })
}

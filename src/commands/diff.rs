//! `gpulab diff`: what changed from one rung to another.

use crate::adopt::Brought;
use crate::bench;
use crate::cli::DiffArgs;
use crate::console;
use crate::lesson::rung_of;
use crate::prelude::*;
use crate::report::diff::{self, DiffLayout, KernelFile};
use crate::report::explain::short_name;
use crate::terminal::Stdout;

/// Prints what the two headers say, and the lines of code that differ.
pub fn run(out: &mut Out, global: &Global, options: &DiffArgs) -> Result<(), Error> {
    let Brought { family, .. } = &Brought::new(&options.family.to_lowercase())?;
    let [from, to] = [&options.from, &options.to].map(|text| rung_of(family, text));
    let from = from?;
    let to = to?;
    if from.path == to.path {
        return Err(Error::Usage(format!("both are {}: name two rungs", short_name(family, from))));
    }
    bench::check_files(&[&from.path, &to.path], options.kernels.cl_dir.as_deref(), global.quiet)?;
    let sources = Sources { dir: options.kernels.cl_dir.clone() };
    let from = file(family, from, &sources)?;
    let to = file(family, to, &sources)?;
    let screen = screen(global.color);
    let layout = DiffLayout::of(Stdout.is_terminal(), screen.width);
    out.text(&diff::text(&from, &to, layout, console::width().min(screen.width), screen))
}

fn file(family: &Family, rung: &Rung, sources: &Sources) -> Result<KernelFile, Error> {
    let text = rung.own_text().map_or_else(|| sources.read(&rung.path), |text| Ok(text.to_owned()));
    let text = text.map_err(|stop| Error::Failed(stop.reason))?;
    Ok(KernelFile { label: format!("{} {}", family.name, rung.label()), path: format!("cl/{}", rung.path), text })
}

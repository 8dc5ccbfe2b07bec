//! `gpulab film`: a page that plays what the warps of a kernel do, step by step.

use crate::cli::{FilmArgs, Global};
use crate::console::note;
use crate::filming::watch;
use crate::report::film::page;
use crate::{Error, outputs};

/// Watches the kernels and writes the page.
pub fn run(global: &Global, options: &FilmArgs) -> Result<(), Error> {
    let films = options.what.iter().map(|what| watch(what, &options.kernel)).collect::<Result<Vec<_>, _>>()?;
    outputs::write(&options.output, page(&films).as_bytes())?;
    if !global.quiet && options.output != "-" {
        let titles: Vec<&str> = films.iter().map(|film| film.title.as_str()).collect();
        note(&format!("wrote {}: {}", options.output, titles.join(" and ")));
    }
    Ok(())
}

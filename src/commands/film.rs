//! `gpulab film`: a page that plays what the warps of a kernel do, step by step.

use crate::cli::FilmArgs;
use crate::filming::watch;
use crate::outputs;
use crate::prelude::*;
use crate::report::film::page;
use crate::report::moment::FilmLine;

/// Watches the kernels and writes the page.
pub fn run(global: &Global, options: &FilmArgs) -> Result<(), Error> {
    let films = options.what.iter().map(|what| watch(what, &options.kernel)).collect::<Result<Vec<_>, _>>()?;
    if let Some(line) = options.line.as_ref().filter(|line| films.iter().all(|film| film.costliest(line).is_none())) {
        let why = format!("--line {line}: no step is of this line; {}", films[0].lines());
        return Err(Error::Usage(why));
    }
    outputs::write(&options.output, page(&films, options.line.as_ref()).as_bytes())?;
    if !global.quiet && options.output != "-" {
        let titles: Vec<&str> = films.iter().map(|film| film.title.as_str()).collect();
        note(&format!("wrote {}: {}", options.output, titles.join(" and ")));
        for film in &films {
            if let Some(step) = film.costliest(&FilmLine::Worst).filter(|step| film.is_wasteful(step)) {
                let title = &film.title;
                let name = step.file.rsplit('/').next().unwrap_or_default();
                let place = format!("{}#line={name}:{}", options.output, step.line);
                note(&format!("{title}, its worst moment: {} ({place})", film.cost(step)));
            }
        }
    }
    Ok(())
}

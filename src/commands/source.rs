//! `gpulab source`: the kernels of a rung or an experiment, as they stand in their files or with what they include in place.

use super::explain::{Lesson, lesson};
use crate::bench;
use crate::cli::SourceArgs;
use crate::kernels;
use crate::prelude::*;
use crate::report::explain::short_name;

pub fn run(out: &mut Out, global: &Global, options: &SourceArgs) -> Result<(), Error> {
    let paths = paths(&lesson(&options.lesson)?)?;
    let dir = options.kernels.cl_dir.as_deref();
    bench::check_files(&paths, dir, global.quiet)?;
    let sources = Sources { dir: dir.map(Path::to_owned) };
    for path in &paths {
        let mut rungs = kernels::everything().flat_map(|family| family.kernels().map(move |rung| (family, rung)));
        let text = match rungs.find(|(_, rung)| rung.path == *path) {
            Some((family, rung)) if options.expanded => {
                sources.assemble_rung(rung).map(|text| whole(family, rung, &text))
            }
            None if options.expanded => sources.assemble(path),
            _ => sources.read(path),
        };
        let text = text.map_err(|stop| Error::Failed(stop.reason))?;
        out.text(&if paths.len() == 1 { text } else { format!("// cl/{path}\n{text}\n") })?;
    }
    Ok(())
}

/// The text behind values of the macros that it takes from the host, unless a program gives them itself.
fn whole(family: &Family, rung: &Rung, text: &str) -> String {
    let given = kernels::given(family, rung, text);
    let values: String =
        given.iter().map(|(name, value)| format!("#ifndef {name}\n#define {name} {value}\n#endif\n")).collect();
    values + text
}

/// The files, as paths below `cl/`.
fn paths(lesson: &Lesson) -> Result<Vec<&'static str>, Error> {
    match lesson {
        Lesson::Kernel(_, rung) => Ok(vec![&*rung.path]),
        Lesson::Ladder(family) => {
            let rungs: Vec<&'static Rung> = family.kernels().collect();
            match rungs[..] {
                [only] => Ok(vec![&*only.path]),
                _ => {
                    let first = family.ladder.first().map_or_else(String::new, |rung| short_name(family, rung));
                    Err(Error::Usage(format!("{} has {} rungs: choose one, as in {first}", family.name, rungs.len())))
                }
            }
        }
        Lesson::Study(experiment) => match experiment.sources() {
            none if none.is_empty() => {
                let why = "it moves data between host and device, and runs no kernel";
                Err(Error::Usage(format!("{} has no kernel source: {why}", experiment.name)))
            }
            paths => Ok(paths),
        },
    }
}

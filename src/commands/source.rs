//! `gpulab source`: the kernels of a rung or an experiment, as they stand in their files or as the compiler gets them.

use crate::bench;
use crate::cli::SourceArgs;
use crate::expansion::{expanded, failed};
use crate::lesson::{Lesson, lesson};
use crate::prelude::*;
use crate::report::explain::short_name;

pub fn run(out: &mut Out, global: &Global, options: &SourceArgs) -> Result<(), Error> {
    let lesson = lesson(&options.lesson)?;
    let paths = paths(lesson)?;
    let dir = options.kernels.cl_dir.as_deref();
    bench::check_files(&paths, dir, global.quiet)?;
    let sources = Sources { dir: dir.map(Path::to_owned) };
    let info = if options.expanded { target_device(global)? } else { None };
    let is_one = paths.len() == 1;
    for path in paths {
        let text = match options.expanded {
            true => expanded(lesson, path, &sources, info.as_ref())?,
            false if is_one => sources.read(path).map_err(failed)?,
            false => format!("// cl/{path}\n{}\n", sources.read(path).map_err(failed)?),
        };
        out.text(&text)?;
    }
    Ok(())
}

/// The files, as paths below `cl/`.
fn paths(lesson: Lesson) -> Result<Vec<&'static str>, Error> {
    match lesson {
        Lesson::Kernel(_, rung) => Ok(vec![&*rung.path]),
        Lesson::Ladder(family) => {
            let rungs: Vec<&'static Rung> = family.kernels().collect();
            if let [only] = rungs[..] {
                return Ok(vec![&*only.path]);
            }
            let first = family.ladder.first().map_or_else(String::new, |rung| short_name(family, rung));
            Err(Error::Usage(format!("{} has {} rungs: choose one, as in {first}", family.name, rungs.len())))
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

/// The device that definitions are made for; none where there is none and none was named.
fn target_device(global: &Global) -> Result<Option<DeviceInfo>, Error> {
    match bench::look(global, &Registry::default()) {
        Ok(worker) => {
            bench::announce(global, worker.info());
            Ok(Some(worker.info().clone()))
        }
        Err(Error::NoDevice(_)) if global.device.is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

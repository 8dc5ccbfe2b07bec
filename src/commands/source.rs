//! `gpulab source`: the kernels of a rung or an experiment, as they stand in their files or as the compiler gets them.

use crate::bench::{self, tuning};
use crate::cli::{Global, SourceArgs};
use crate::console::Out;
use crate::device::build_options;
use crate::exchange::exchange;
use crate::experiments::Scope;
use crate::kernels::{self, Family, Rung, Sources, used_defines};
use crate::lesson::{Lesson, lesson};
use crate::outcome::{DeviceInfo, Executor};
use crate::plan::{Case, Refusal};
use crate::report::explain::short_name;
use crate::report::format::device;
use crate::terminal::{self, say};
use crate::worker::{Setup, WorkerProcess};
use crate::{Error, interrupt};
use std::path::Path;
use std::time::Duration;

/// Longest that opening the device may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// Prints the files.
///
/// # Errors
/// [`Error::Usage`] for what has no kernel, or has many rungs, and for a folder that lacks a file; [`Error::NoDevice`] if a
/// device is named that is not there.
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

fn failed(stop: crate::outcome::Stop) -> Error {
    Error::Failed(stop.reason)
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
    let setup = Setup { device: global.device.clone(), ..Setup::default() };
    match WorkerProcess::open(setup, DEADLINE, interrupt::interrupted, say) {
        Ok(worker) => {
            bench::announce(global, worker.info());
            Ok(Some(worker.info().clone()))
        }
        Err(Error::NoDevice(_)) if global.device.is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file with its fragments in place, below a comment that says how it is built.
fn expanded(lesson: Lesson, path: &str, sources: &Sources, info: Option<&DeviceInfo>) -> Result<String, Error> {
    let rung = kernels::everything().flat_map(Family::kernels).find(|rung| rung.path == path);
    let text = rung.map_or_else(|| sources.assemble(path), |rung| sources.assemble_rung(rung)).map_err(failed)?;
    let how = match info {
        None => "without an OpenCL device: the macros have the defaults of the file".to_owned(),
        Some(info) => match case(lesson, path, info) {
            None => "for no case on this device: the macros have the defaults of the file".to_owned(),
            Some(case) => match defines(&case, info) {
                Err(refusal) => format!("not on this device: {refusal}; the macros have the defaults of the file"),
                Ok(defines) => {
                    let options = build_options(&used_defines(&defines, &text));
                    let options = options.map_err(|error| Error::Failed(error.to_string()))?;
                    let each = options.replace(" -D ", "\n//   -D ");
                    format!("for {}, with these options:\n//   {each}", named(&case, info))
                }
            },
        },
    };
    Ok(format!("// cl/{path}, {how}\n{text}"))
}

/// A case and its device in words.
fn named(case: &Case, info: &DeviceInfo) -> String {
    let Case { dtype, shape, .. } = case;
    let size = if shape.m > 1 { format!("{} x {}", shape.n, shape.m) } else { format!("n = {}", shape.n) };
    format!("{size} of {dtype} on {}", terminal::line(&device(&info.name)))
}

/// The case that the file is built for: that of the ladder without options, or the experiment's first with it.
fn case(lesson: Lesson, path: &str, info: &DeviceInfo) -> Option<Case> {
    match lesson {
        Lesson::Kernel(family, rung) => Some(usual(family, rung, info)),
        Lesson::Ladder(family) => family.kernels().next().map(|rung| usual(family, rung, info)),
        Lesson::Study(experiment) => {
            let trials = experiment.plan(&Scope { target: &info.target, quick: false, seed: 1 });
            trials.into_iter().map(|trial| trial.case).find(|case| is_of(case, path, info))
        }
    }
}

fn usual(family: &Family, rung: &Rung, info: &DeviceInfo) -> Case {
    Case {
        wg: tuning::default_work_group(info),
        ..Case::of(
            &family.name,
            rung.variant(),
            family.dtypes[0],
            family.form.shape(family.form.ladder_size(false), None),
        )
    }
}

/// Whether a case runs this file.
fn is_of(case: &Case, path: &str, info: &DeviceInfo) -> bool {
    match exchange(&case.family) {
        Some(exchange) => (exchange.script)(case, &info.target)
            .is_ok_and(|script| script.program.is_some_and(|program| program.path == path)),
        None => kernels::built_in(&case.family).and_then(|f| f.rung(&case.variant)).is_some_and(|r| r.path == path),
    }
}

/// The definitions that a case is built with.
fn defines(case: &Case, info: &DeviceInfo) -> Result<Vec<(String, String)>, Refusal> {
    if let Some(exchange) = exchange(&case.family) {
        let script = (exchange.script)(case, &info.target)?;
        return Ok(script.program.map(|program| program.defines).unwrap_or_default());
    }
    let found = kernels::built_in(&case.family).and_then(|f| Some((f, f.rung(&case.variant)?)));
    let Some((family, rung)) = found else { return Ok(Vec::new()) };
    family.plan(rung, case, &info.target).map(|plan| plan.defines)
}

//! A kernel's file as the compiler gets it.

use crate::bench::tuning;
use crate::device::build_options;
use crate::exchange::exchange;
use crate::experiments::Scope;
use crate::kernels::{self, used_defines};
use crate::lesson::Lesson;
use crate::plan::Refusal;
use crate::prelude::*;
use crate::report::format::device;
use crate::terminal;

/// A file with its fragments in place, below a comment that says how it is built.
pub(crate) fn expanded(
    lesson: Lesson,
    path: &str,
    sources: &Sources,
    info: Option<&DeviceInfo>,
) -> Result<String, Error> {
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

fn is_of(case: &Case, path: &str, info: &DeviceInfo) -> bool {
    match exchange(&case.family) {
        Some(exchange) => (exchange.script)(case, &info.target)
            .is_ok_and(|script| script.program.is_some_and(|program| program.path == path)),
        None => kernels::built_in(&case.family).and_then(|f| f.rung(&case.variant)).is_some_and(|r| r.path == path),
    }
}

fn defines(case: &Case, info: &DeviceInfo) -> Result<Vec<(String, String)>, Refusal> {
    if let Some(exchange) = exchange(&case.family) {
        let script = (exchange.script)(case, &info.target)?;
        return Ok(script.program.map(|program| program.defines).unwrap_or_default());
    }
    let found = kernels::built_in(&case.family).and_then(|f| Some((f, f.rung(&case.variant)?)));
    let Some((family, rung)) = found else { return Ok(Vec::new()) };
    family.plan(rung, case, &info.target).map(|plan| plan.defines)
}

pub(crate) fn failed(stop: crate::outcome::Stop) -> Error {
    Error::Failed(stop.reason)
}

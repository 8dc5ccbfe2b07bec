//! What the simulator Oclgrind says of a reader's kernel, beside what a device does with it.

use crate::adopt::own;
use crate::ceilings;
use crate::count::CheckFinding;
use crate::judgement::{Judgement, Ruling};
use crate::prelude::*;
use crate::report::{findings, judged};
use crate::simulator::{CheckEnd, CheckingWorker, PLUGINS_FOLDER};

const SECOND_OPINION: Duration = Duration::from_secs(20);

/// A worker in the simulator; each case may take as long as `limit`.
pub(crate) fn open(registry: &Registry, limit: Duration) -> Result<CheckingWorker, Error> {
    interrupt::watch();
    let folder = ceilings::folder()?.join(PLUGINS_FOLDER);
    CheckingWorker::open(&folder, Setup::of(registry), limit, (interrupt::interrupted, say))
}

/// What was found in a kernel of this text, in words.
pub(crate) fn told(found: &[CheckFinding], source: &str, screen: Screen) -> String {
    findings::text(found, &|file, line| own::line_of(source, file, line).map(|text| text.trim().to_owned()), screen)
}

/// What the simulator says of a kernel that is wrong on a device, at the smallest size where it is, and whether that is the
/// fault; nothing without a simulator, or where it cannot tell.
pub(crate) fn second_opinion(
    registry: &Registry,
    (rung, judgement): (&Rung, &Judgement),
    device: Option<&str>,
    screen: Screen,
) -> Result<Option<(String, bool)>, Error> {
    let failed = judgement.failed().filter(|_| judgement.ruling == Ruling::Wrong);
    let Some(failed) = failed else { return Ok(None) };
    let case = &Case { shape: failed.shape, wg: failed.wg, ..judgement.asked.clone() };
    let Ok(mut simulator) = open(registry, SECOND_OPINION) else { return Ok(None) };
    let checked = simulator.check(case, SECOND_OPINION)?;
    let source = rung.text().unwrap_or_default();
    let sentence = match checked.end {
        _ if !checked.findings.is_empty() => return Ok(Some((told(&checked.findings, source, screen), true))),
        CheckEnd::Stopped(_) => return Ok(None),
        CheckEnd::Wrong => {
            "the result is wrong in the simulator Oclgrind, too, and it finds no race: the kernel computes \
                            something else, or is not launched as it expects"
        }
        CheckEnd::Right if is_wrong_over_the_same_data(registry, case, device)? => {
            "over the same data the simulator Oclgrind gets the right result, and finds no race: it may be that the driver \
             compiles this kernel wrongly. Try it with another driver (gpulab devices)"
        }
        CheckEnd::Right => return Ok(None),
    };
    let size = judged::size(judgement, case.shape);
    Ok(Some((format::wrap(&format!("check: with {size} {sentence}"), screen.width, "  "), false)))
}

fn is_wrong_over_the_same_data(registry: &Registry, case: &Case, device: Option<&str>) -> Result<bool, Error> {
    let setup = Setup { device: device.map(str::to_owned), ..Setup::of(registry) };
    let mut worker = WorkerProcess::open(setup, None, SECOND_OPINION, interrupt::interrupted, say)?;
    let launched = worker.launch_once_within(case, SECOND_OPINION)?;
    Ok(matches!(launched, Ok(Err(stop)) if stop.status == Status::WrongResult))
}

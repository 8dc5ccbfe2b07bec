//! What the simulator Oclgrind says of a reader's kernel, beside what a device does with it.

use crate::brought::{asks, line_of};
use crate::cli::Global;
use crate::count::FindingKind;
use crate::judgement::{Judgement, Ruling};
use crate::judging::ragged;
use crate::kernels::remarks::remarks;
use crate::kernels::{Family, Registry, Rung, tile_of_a_group, usual_plan};
use crate::outcome::Status;
use crate::plan::Case;
use crate::report::format::Screen;
use crate::report::verdict::{Finding, Verdict};
use crate::report::{count, judged};
use crate::simulator::{CheckEnd, Checked, CheckingWorker, PLUGINS_FOLDER, Simulator};
use crate::terminal::say;
use crate::worker::{Setup, Tell};
use crate::{Error, Result, ceilings, interrupt};
use std::time::Duration;

/// What is said where no simulator ran.
pub const UNCHECKED: &str = "races were not looked for: --check does, and at the bounds of local memory, in the simulator Oclgrind";

const SECOND_OPINION: Duration = Duration::from_secs(20);

/// Says what a kernel's text shows without a run.
pub fn remark(family: &Family, rung: &Rung) {
    for said in remarks_of(family, rung) {
        say(Screen::stderr().wrap(&said).trim_end());
    }
}

/// What a kernel's text shows without a run.
pub fn remarks_of(family: &Family, rung: &Rung) -> Vec<String> {
    let Some(plan) = usual_plan(family, rung) else {
        return Vec::new();
    };
    let launched: Vec<&str> = plan
        .passes
        .iter()
        .map(|pass| pass.kernel.as_str())
        .collect();
    remarks(rung.text().unwrap_or_default(), &plan.defines, &launched)
}

/// A worker in the simulator; each case may take as long as `limit`.
pub fn open(registry: &Registry, limit: Duration) -> Result<CheckingWorker> {
    open_with(registry, limit, None, say)
}

/// As [`open`], with sub-groups of so many work-items; `tell` is given what is printed.
pub fn open_with(
    registry: &Registry,
    limit: Duration,
    subgroups: Option<(&Simulator, u64)>,
    tell: Tell,
) -> Result<CheckingWorker> {
    interrupt::watch();
    let folder = ceilings::folder()?.join(PLUGINS_FOLDER);
    CheckingWorker::open(
        &folder,
        Setup::of(registry),
        limit,
        subgroups,
        (interrupt::interrupted, tell),
    )
}

/// Runs a rung's case over some groups and a rest, or as it is where the family cannot have so few.
pub fn check(
    worker: &mut CheckingWorker,
    (family, rung): (&Family, &Rung),
    case: &Case,
    limit: Duration,
) -> Result<Checked> {
    let target = worker.target();
    let mut shapes = vec![case.shape];
    if let Ok(tile) = tile_of_a_group(family, rung, case, target) {
        let least = ragged(family.form, tile);
        let even = family.form.shape(
            least.n.next_multiple_of(16),
            Some(least.m.next_multiple_of(16)),
        );
        let usual = family.usual_shape(least.n, true);
        shapes = vec![least, even, usual, case.shape];
    }
    let cases = shapes.into_iter().map(|shape| Case {
        shape,
        ..case.clone()
    });
    let mut possible = cases.filter(|case| family.plan(rung, case, target).is_ok());
    // What cannot be planned says why.
    let case = possible.next().unwrap_or_else(|| case.clone());
    worker.has_subgroup_barriers = rung
        .text()
        .is_some_and(|text| text.contains("sub_group_barrier"));
    let checked = worker.check(&case, limit, !rung.text().is_some_and(has_images))?;
    Ok(match rung.own_text().and_then(asks) {
        Some(asks) if checked.end == CheckEnd::Right => Checked {
            end: CheckEnd::Stopped(asks),
            ..checked
        },
        _ => checked,
    })
}

/// As [`check`], in a simulator of its own; that there is none is an answer, too.
pub fn look(
    registry: &Registry,
    kernel: (&Family, &Rung),
    case: &Case,
    limit: Duration,
) -> Result<Checked> {
    match open(registry, limit) {
        Err(Error::NoDevice(why)) => Ok(Checked::stopped(why)),
        opened => check(&mut opened?, kernel, case, limit),
    }
}

/// Adds to a verdict what was found in a kernel, and why not more can be said.
pub fn add(verdict: &mut Verdict, checked: &Checked, kernel: &str) {
    let found = checked.findings.iter();
    let found = found.map(|found| Finding::of_check(found, kernel));
    verdict.findings.extend(found);
    if let Some(why) = checked.doubt() {
        let what = format!("{kernel}: races, bounds, values never set");
        verdict.leave(what, why.to_owned());
    }
}

/// What images hold the simulator takes for never set.
fn has_images(source: &str) -> bool {
    source.contains("read_image") || source.contains("get_image_")
}

/// What was found in a kernel, in words, or why nothing can be said; `draw` is the command that draws it, if one does.
pub fn told(checked: &Checked, rung: &Rung, draw: &str, screen: Screen) -> String {
    let source = rung.text().unwrap_or_default();
    let mut found = count::found(
        &checked.findings,
        &|file, line| line_of(source, file, line).map(|text| text.trim().to_owned()),
        screen,
    );
    let mut findings = checked.findings.iter();
    if !draw.is_empty()
        && findings.any(|found| found.kind == FindingKind::Race && !found.between_groups)
    {
        found += &screen
            .wrap("next: a film looks for an order of the work-items in which the kernel loses:");
        found += &format!("  {draw} --film race.html\n");
    }
    let end = match checked.doubt().map(|why| why.replace('\n', " ")) {
        Some(why) if found.is_empty() => format!("check: not looked at: {why}"),
        Some(why) => format!("check: not looked at to its end: {why}"),
        None if found.is_empty() && has_images(source) => {
            "check: no race, no access out of bounds; values never set are not looked for beside images".into()
        }
        None if found.is_empty() => {
            "check: no race, no access out of bounds, no value that was never set".into()
        }
        None => return found,
    };
    found + &screen.wrap_foreign(&end)
}

/// The error that a check makes.
pub fn verdict(checked: &Checked, name: &str, strict: bool) -> Result<()> {
    match checked.doubt() {
        _ if !checked.findings.is_empty() => Err(Error::WrongResult(format!(
            "{name}: the simulator found faults: see above"
        ))),
        Some(_) if strict => Err(Error::Untrusted(format!(
            "{name} was not looked at in the simulator: see above"
        ))),
        _ => Ok(()),
    }
}

/// What the simulator says of a kernel that is wrong on a device, at the smallest size where it is, and whether that is the
/// fault; nothing without a simulator, or where it cannot tell.
pub fn second_opinion(
    global: &Global,
    registry: &Registry,
    (rung, judgement): (&Rung, &Judgement),
    draw: &str,
    screen: Screen,
) -> Result<(String, bool)> {
    let nothing = (String::new(), false);
    let failed = judgement
        .failed()
        .filter(|_| judgement.ruling == Ruling::Wrong);
    let Some(failed) = failed else {
        return Ok(nothing);
    };
    let case = &Case {
        shape: failed.shape,
        wg: failed.wg,
        ..judgement.asked.clone()
    };
    let Ok(mut simulator) = open(registry, SECOND_OPINION) else {
        return Ok(nothing);
    };
    let mut checked =
        simulator.check(case, SECOND_OPINION, !rung.text().is_some_and(has_images))?;
    if checked.findings.is_empty() {
        // In one group, or as a single work-item, nobody meets another.
        if let Some(family) = registry.family(&case.family) {
            let wider = check(&mut simulator, (family, rung), case, SECOND_OPINION)?;
            if !wider.findings.is_empty() {
                checked = wider;
            }
        }
    }
    let sentence = match checked.end {
        _ if !checked.findings.is_empty() => {
            return Ok((told(&checked, rung, draw, screen), true));
        }
        CheckEnd::Stopped(_) => return Ok(nothing),
        CheckEnd::Right if rung.own_text().and_then(asks).is_some() => return Ok(nothing),
        CheckEnd::Wrong => {
            "the result is wrong in the simulator Oclgrind, too. There it finds no race, nor with some groups and a rest: \
             kernel and reference compute or round differently, or the kernel is not launched as it expects"
        }
        CheckEnd::Right if is_wrong_over_the_same_data(global, registry, case)? => {
            "over the same data the simulator Oclgrind gets the right result, and finds no race, nor with some groups and a \
             rest. It may be that work-items leave before a barrier, that options relax what is computed, or that the driver \
             compiles this kernel wrongly: try it with another driver (gpulab devices)"
        }
        CheckEnd::Right => return Ok(nothing),
    };
    let size = judged::size(judgement, case.shape);
    let said = screen.wrap(&format!("check: with {size} {sentence}"));
    Ok((said, false))
}

fn is_wrong_over_the_same_data(global: &Global, registry: &Registry, case: &Case) -> Result<bool> {
    let mut worker = global.worker(registry, SECOND_OPINION)?;
    let launched = worker.launch_once_within(case, SECOND_OPINION)?;
    Ok(matches!(launched, Ok(Err(stop)) if stop.status == Status::WrongResult))
}

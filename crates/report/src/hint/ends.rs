//! Hints for kernels that end their process, never end, or cannot be run.

use super::words::{Hint, elements, hint};
use gpulab_study::judgement::{Judgement, Ruling};

pub(super) fn hint(judgement: &Judgement, ruling: Ruling) -> Hint {
    let traits = &judgement.traits;
    let right =
        judgement.tried.iter().filter(|tried| tried.ruling == Ruling::Right).map(|tried| tried.shape.elements()).max();
    let until = right.map_or_else(String::new, |most| format!(" It is right up to {}.", elements(most)));
    let family = &judgement.asked.family;
    let loops = "Look at each loop: does its step change what its condition compares? An unsigned number is never less than 0, and \
                 half of 0 is 0. --deadline gives a slow kernel more time.";
    match ruling {
        Ruling::Crashed if judgement.failed().is_some_and(|tried| tried.reason.contains("memory limit")) => hint!(
            "The process ran out of memory: the process of a kernel has a memory limit.",
            "Make private and local arrays smaller, and unroll less."
        ),
        Ruling::Crashed => hint!(
            "The kernel ended its process: it reads or writes far outside of its buffers, or its work-items need too much \
                     memory.{until}",
            "Compare each index with the size before it is used; look for differences that become negative, as unsigned \
                     numbers do not. gpulab try FILE --as {family} --check names the line."
        ),
        Ruling::Endless if traits.returns_before_barrier || traits.branches_round_barrier => hint!(
            "The kernel does not end: not all work-items of a group reach its barrier, and the others wait.{until}",
            "Let all work-items of a group pass every barrier: put it outside of the if, and return behind it."
        ),
        Ruling::Endless if right.is_some() => {
            hint!("The kernel does not end: the condition of a loop never becomes false.{until}", "{loops}")
        }
        Ruling::Endless => hint!("The kernel does not end, or takes longer than that to compile.", "{loops}"),
        Ruling::Refused => hint!(
            "The kernel cannot run like this.",
            "Change what the // gpulab: lines declare, or --wg, -n and --dtype."
        ),
        _ => hint!("The driver failed; the kernel was not judged.", "gpulab doctor looks at the driver."),
    }
}

//! A judgement in words: what was tried, what came of it, and the hint.

use super::hint;
use crate::prelude::*;
use gpulab_model::data::Shape;
use gpulab_model::plan::WorkGroup;
use gpulab_study::judgement::{Judgement, Ruling, TriedCase};

const MOST_LINES: usize = 30;

/// The judgement of the kernel that is called so; whether the simulator `found` its fault.
pub fn text(name: &str, judgement: &Judgement, found: bool, screen: Screen) -> String {
    let wrapped = |text: &str, rest: &str| format::wrap(text, screen.width, rest);
    let mut text = verdict(name, judgement, screen);
    if let Some(failed) = judgement.failed() {
        for line in failed.reason.lines().take(MOST_LINES) {
            text += &wrapped(&format!("  {}", format::terminal(line)), "    ");
        }
        let more = failed.reason.lines().count().saturating_sub(MOST_LINES);
        if more > 0 {
            text += &format!("  ({more} more lines)\n");
        }
    }
    if judgement.ruling == Ruling::Wrong {
        text += &wrapped(&sizes(judgement), "  ");
    }
    if let Some(hint) = hint::hint(judgement, found) {
        text += &hint::text(&hint, screen.width);
    }
    text + &elsewhere(judgement, screen)
}

/// The first line: what the kernel is, and where.
fn verdict(name: &str, judgement: &Judgement, screen: Screen) -> String {
    let painted = |word: &str, tint: Tint| if screen.color { paint(word, tint) } else { word.to_owned() };
    let place = |tried: &TriedCase| format!(" with {}, work-group {}", size(judgement, tried.shape), tried.wg);
    let at = |tried: Option<&TriedCase>| tried.map_or_else(String::new, place);
    let failed = judgement.failed();
    match judgement.ruling {
        Ruling::Right => {
            let count = judgement.tried.len();
            let last = judgement.tried.last();
            let word = painted("right", Tint::Green);
            format::wrap(&format!("{name}: {word} at {count} sizes, the last{}", at(last)), screen.width, "  ")
        }
        Ruling::Wrong => format!("{name}: {}{}\n", painted("WRONG", Tint::Red), at(failed)),
        Ruling::NotBuilt => format!("{name}: {}\n", painted("does not build", Tint::Red)),
        Ruling::Crashed => format!("{name}: {}{}\n", painted("crashes", Tint::Red), at(failed)),
        Ruling::Endless => format!("{name}: {}{}\n", painted("does not end", Tint::Red), at(failed)),
        Ruling::Refused => format!("{name}: {}\n", painted("cannot be run", Tint::Red)),
        Ruling::Failed => format!("{name}: {}{}\n", painted("the driver failed", Tint::Red), at(failed)),
    }
}

/// `n=17`, or `17x33`.
pub fn size(judgement: &Judgement, Shape { n, m }: Shape) -> String {
    let is_vector = judgement.tile[1] == 1 && judgement.asked.shape.m == 1;
    if is_vector { format!("n={n}") } else { format!("{n}x{m}") }
}

/// At which sizes it is right, and at which wrong.
fn sizes(judgement: &Judgement) -> String {
    let list = |is_right: bool| {
        let of = judgement.tried.iter().filter(|tried| (tried.ruling == Ruling::Right) == is_right);
        of.map(|tried| size(judgement, tried.shape)).joined(", ")
    };
    match (list(true), list(false)) {
        (right, wrong) if right.is_empty() => format!("  wrong: {wrong}"),
        (right, wrong) => format!("  right: {right}; wrong: {wrong}"),
    }
}

/// What came of other work-groups, where a right kernel is not right in them.
fn elsewhere(judgement: &Judgement, screen: Screen) -> String {
    let of_group = |wg: WorkGroup, reason: &str| {
        let reason = reason.lines().next().unwrap_or_default();
        let note = format!("note: in work-groups of {wg} it is not right: {}", format::terminal(reason));
        format::wrap(&note, screen.width, "  ")
    };
    judgement
        .elsewhere
        .iter()
        .filter(|tried: &&TriedCase| {
            judgement.ruling == Ruling::Right && !matches!(tried.ruling, Ruling::Right | Ruling::Refused)
        })
        .map(|tried| of_group(tried.wg, &tried.reason))
        .collect()
}

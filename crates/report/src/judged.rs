//! A judgement in words: what was tried, what came of it, and the hint.

use super::hint;
use crate::format::{self, Screen, Tint, paint};
use gpulab_model::Joined;
use gpulab_model::data::Shape;
use gpulab_study::judgement::{Judgement, Ruling, TriedCase};

const MOST_LINES: usize = 30;

/// The judgement of the kernel that is called so; whether the simulator `found` its fault.
pub fn text(name: &str, judgement: &Judgement, found: bool, screen: Screen) -> String {
    let mut text = verdict(name, judgement, screen);
    if let Some(failed) = judgement.failed() {
        for line in failed.reason.lines().take(MOST_LINES) {
            text += &format::wrap(
                &format!("  {}", format::terminal(line)),
                screen.width,
                "    ",
            );
        }
        let more = failed.reason.lines().count().saturating_sub(MOST_LINES);
        if more > 0 {
            text += &format!("  ({more} more lines)\n");
        }
    }
    if judgement.ruling == Ruling::Wrong {
        text += &screen.wrap(&sizes(judgement));
    }
    if let Some(hint) = hint::hint(judgement, found) {
        text += &hint::text(&hint, screen.width);
    }
    text + &elsewhere(judgement, screen)
}

/// The first line: what the kernel is, and where.
fn verdict(name: &str, judgement: &Judgement, screen: Screen) -> String {
    let said = match judgement.ruling {
        Ruling::Right => "right",
        Ruling::Wrong => "WRONG",
        Ruling::NotBuilt => "does not build",
        Ruling::Crashed => "crashes",
        Ruling::Endless => "does not end",
        Ruling::Refused => "cannot be run",
        Ruling::Failed if hint::lacks_reference(judgement) => "not judged",
        Ruling::Failed => "no verdict",
    };
    let tint = if judgement.ruling == Ruling::Right {
        Tint::Green
    } else {
        Tint::Red
    };
    let word = if screen.color {
        paint(said, tint)
    } else {
        said.to_owned()
    };
    let tried = match judgement.ruling {
        Ruling::Right => judgement.tried.last(),
        Ruling::NotBuilt | Ruling::Refused => None,
        _ => judgement.failed(),
    };
    let at = tried.map_or_else(String::new, |tried: &TriedCase| {
        format!(
            " with {}, work-group {}",
            size(judgement, tried.shape),
            tried.wg
        )
    });
    match judgement.ruling {
        Ruling::Right => {
            let count = judgement.tried.len();
            screen.wrap(&format!("{name}: {word} at {count} sizes, the last{at}"))
        }
        _ => format!("{name}: {word}{at}\n"),
    }
}

/// `n=17`, or `17x33`.
pub fn size(judgement: &Judgement, Shape { n, m }: Shape) -> String {
    let is_vector = judgement.tile[1] == 1 && judgement.asked.shape.m == 1;
    if is_vector {
        format!("n={n}")
    } else {
        format!("{n}x{m}")
    }
}

/// At which sizes it is right, and at which wrong.
fn sizes(judgement: &Judgement) -> String {
    let [right, wrong] = [true, false].map(|is_right| {
        let of = judgement
            .tried
            .iter()
            .filter(|tried| (tried.ruling == Ruling::Right) == is_right);
        of.map(|tried| size(judgement, tried.shape)).joined(", ")
    });
    if right.is_empty() {
        format!("  wrong: {wrong}")
    } else {
        format!("  right: {right}; wrong: {wrong}")
    }
}

/// What came of other work-groups, where a right kernel is not right in them.
fn elsewhere(judgement: &Judgement, screen: Screen) -> String {
    let mut text = String::new();
    for tried in judgement
        .elsewhere
        .iter()
        .filter(|_| judgement.ruling == Ruling::Right)
    {
        if !matches!(tried.ruling, Ruling::Right | Ruling::Refused) {
            let reason = format::terminal(tried.reason.lines().next().unwrap_or_default());
            let note = format!(
                "note: in work-groups of {} it is not right: {reason}",
                tried.wg
            );
            text += &screen.wrap(&note);
        }
    }
    text
}

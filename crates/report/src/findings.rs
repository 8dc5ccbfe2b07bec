//! What the simulator found in a kernel, in words, with the lines of its file.

use super::format::{self, Screen};
use gpulab_study::count::{CheckFinding, FindingKind};

const MOST: usize = 6;

/// The findings; `line_of` gives the text of a line of a file.
pub fn text(findings: &[CheckFinding], line_of: &dyn Fn(&str, u64) -> Option<String>, screen: Screen) -> String {
    if findings.is_empty() {
        return "check: no race, no access out of bounds, no value that was never set\n".into();
    }
    let mut told = String::new();
    for found in findings.iter().take(MOST) {
        let place = match (&found.file, found.line) {
            (Some(file), Some(line)) => format!("{file}, line {line}: "),
            _ => String::new(),
        };
        let source = found.file.as_deref().zip(found.line).and_then(|(file, line)| line_of(file, line));
        let text = format!("check: {}{}", format::terminal(&place), meaning(found));
        told += &format::wrap(&text, screen.width, "  ");
        told += &source.map_or_else(String::new, |source| format!("    {}\n", format::terminal(&source)));
    }
    let more = findings.len().saturating_sub(MOST);
    if more > 0 { told + &format!("check: {more} more places\n") } else { told }
}

/// What it means, and what to do.
fn meaning(found: &CheckFinding) -> String {
    match found.kind {
        FindingKind::Race => {
            "a race: a work-item reads or writes here what another one writes, with no barrier between them".into()
        }
        FindingKind::ReadOutside => {
            "a read outside of a buffer or an array: compare the index with the size before".into()
        }
        FindingKind::WriteOutside => {
            "a write outside of a buffer or an array: compare the index with the size before".into()
        }
        FindingKind::Unset => "a value is used here that was never set".into(),
        FindingKind::Divergence => "not all work-items of a group reach this barrier: put it outside of the if".into(),
        FindingKind::Other => format::terminal(&found.said),
    }
}

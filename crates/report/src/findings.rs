//! What the simulator found in a kernel, in words, with the lines of its file.

use crate::prelude::*;
use gpulab_study::count::CheckFinding;

const MOST: usize = 6;

pub fn text(findings: &[CheckFinding], line_of: &dyn Fn(&str, u64) -> Option<String>, screen: Screen) -> String {
    let mut told = String::new();
    for found in findings.iter().take(MOST) {
        let source = found.file.as_deref().zip(found.line).and_then(|(file, line)| line_of(file, line));
        let text = format!("check: {}", format::terminal(&found.sentence()));
        told += &format::wrap(&text, screen.width, "  ");
        told += &source.map_or_else(String::new, |source| format!("    {}\n", format::terminal(&source)));
    }
    let more = findings.len().saturating_sub(MOST);
    if more > 0 { told + &format!("check: {more} more places\n") } else { told }
}

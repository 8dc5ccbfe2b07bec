//! What was found of kernels that nobody compares with anything.

use crate::format::{self, Screen};
use crate::verdict::{Verdict, Word};
use std::collections::BTreeSet;

/// The rule of what does not build.
pub const BUILD: &str = "build_error";

/// Most lines of a finding that are shown.
const MOST_LINES: usize = 6;

/// Gives a verdict on a file's kernels its word, its reason and what leads on.
pub fn conclude(verdict: &mut Verdict, kernels: &[String]) {
    let rules = verdict.findings.iter().map(|finding| finding.rule.as_str());
    let rules: BTreeSet<&str> = rules.collect();
    let is_compared = verdict.reference.is_some();
    verdict.verdict = match rules.first() {
        None => Word::NothingFound,
        Some(&BUILD) if rules.len() == 1 => Word::NotBuilt,
        Some(_) if is_compared => Word::Incorrect,
        Some(_) => Word::Found,
    };
    let found: Vec<String> = rules.iter().map(|rule| rule.replace('_', " ")).collect();
    verdict.reason = match verdict.findings.len() {
        0 => format!("in {}", kernels.join(", ")),
        count => format!(
            "{} ({})",
            format::counted(count, "finding"),
            found.join(", ")
        ),
    };
    let file = &verdict.subject;
    verdict.next = Some(match kernels {
        [_] if is_compared => format!("gpulab try {file} --draft"),
        [_] => format!("gpulab try {file} --check=\"numpy: RESULT = ...\", or --against OLD.cl"),
        [first, ..] => format!("gpulab try {file}:{first}, for times and counts"),
        [] => String::new(),
    });
}

/// A verdict in words, around `details`.
pub fn text(verdict: &Verdict, details: &str, screen: Screen) -> String {
    let word = verdict.verdict.name();
    let mut text = screen.wrap(&format!("{word}: {}: {}", verdict.subject, verdict.reason));
    for finding in &verdict.findings {
        let kernel = finding.kernel.as_deref().unwrap_or_default();
        let said = format!("{kernel}, {}: {}", finding.tool, finding.message);
        for line in said.lines().take(MOST_LINES) {
            text += &screen.wrap_foreign(line);
        }
    }
    text += details;
    for left in &verdict.not_looked_at {
        text += &screen.wrap_foreign(&format!("not looked at: {}: {}", left.what, left.why));
    }
    if verdict.reference.is_none() {
        text += &screen.wrap("not looked at: right results, as they are compared with nothing");
    }
    if let Some(next) = &verdict.next {
        text += &screen.wrap(&format!("next: {next}"));
    }
    format::on_screen(&text, screen)
}

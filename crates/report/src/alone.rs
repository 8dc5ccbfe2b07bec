//! What was found of kernels that nobody compares with anything.

use crate::check::{CheckedFile, placed};
use crate::format::{self, Screen};
use crate::verdict::{Finding, Level, Verdict, Word};
use std::collections::BTreeSet;

/// The rule of what does not build.
pub const BUILD: &str = "build_error";

/// Most lines of a finding that are shown.
const MOST_LINES: usize = 6;

/// Gives a verdict on a file's kernels its word and its reason; `is_looked` is whether one of them ran anywhere.
pub fn conclude(verdict: &mut Verdict, kernels: &[String], is_looked: bool) {
    let rules: BTreeSet<String> = faults(verdict)
        .map(|finding| finding.rule.clone())
        .collect();
    let is_compared = verdict.reference.is_some();
    let is_sure = faults(verdict).any(|finding| finding.level == Level::Error);
    verdict.verdict = match rules.first() {
        None if !is_looked => Word::NotLookedAt,
        None => Word::NothingFound,
        Some(rule) if rule == BUILD && rules.len() == 1 => Word::NotBuilt,
        Some(_) if !is_sure => Word::Undecided,
        Some(_) if is_compared => Word::Incorrect,
        Some(_) => Word::Found,
    };
    if !is_compared {
        let why =
            "they are compared with nothing: --check=\"numpy: ...\" or --against old.cl would";
        verdict.leave("right results".to_owned(), why.to_owned());
    }
    let found: Vec<String> = rules.iter().map(|rule| rule.replace('_', " ")).collect();
    verdict.reason = match faults(verdict).count() {
        0 => format!("in {}", kernels.join(", ")),
        count => format!(
            "{} ({})",
            format::counted(count, "finding"),
            found.join(", ")
        ),
    };
}

/// What is wrong, or would be if nothing was guessed wrongly; without what is only to be known.
fn faults(verdict: &Verdict) -> impl Iterator<Item = &Finding> {
    let findings = verdict.findings.iter();
    findings.filter(|finding| finding.level != Level::Note && !is_of_compiler(finding))
}

/// Whether another compiler than the device's says so.
fn is_of_compiler(finding: &Finding) -> bool {
    finding.level == Level::Warning && finding.rule.starts_with("build")
}

/// What compilers made of a file.
pub fn compiled(checked: &CheckedFile) -> String {
    let seconds = checked.seconds.map_or_else(String::new, |seconds| {
        let [cold, again] = seconds.map(format::time);
        format!(" in {cold} ({again} when built again)")
    });
    let needs = match checked.needs.ends_with('?') {
        true => String::new(),
        false => checked.needs.replace("CL", ", needs OpenCL C "),
    };
    format!("built by {} compilers{seconds}{needs}", checked.built)
}

/// A verdict in words, around `details`.
pub fn text(verdict: &Verdict, details: &str, screen: Screen) -> String {
    let word = verdict.verdict.name();
    let mut text = screen.wrap(&format!("{word}: {}: {}", verdict.subject, verdict.reason));
    for finding in faults(verdict) {
        let kernel = finding.kernel.as_deref().unwrap_or_default();
        let said = format!("{kernel}, {}: {}", finding.tool, finding.message);
        for line in said.lines().take(MOST_LINES) {
            text += &screen.wrap_foreign(line);
        }
    }
    text += details;
    let findings = verdict.findings.iter();
    let mut warnings = findings.filter(|finding| is_of_compiler(finding));
    for finding in warnings.by_ref().take(MOST_LINES) {
        text += &screen.wrap_foreign(&format!("warning: {}", placed(finding)));
    }
    match warnings.count() {
        0 => {}
        more => text += &format!("and {more} more warnings, which gpulab check shows\n"),
    }
    for left in &verdict.not_looked_at {
        text += &screen.wrap_foreign(&format!("not looked at: {}: {}", left.what, left.why));
    }
    if let Some(next) = &verdict.next {
        text += &screen.wrap(&format!("next: {next}"));
    }
    format::on_screen(&text, screen)
}

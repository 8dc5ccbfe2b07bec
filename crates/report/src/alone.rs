//! What was found of kernels that are compared with nothing.

use crate::elsewhere::TimeElsewhere;
use crate::format::{self, Screen};
use crate::verdict::{Finding, Level, Verdict};

/// A verdict in words, around `details`.
pub fn text(verdict: &Verdict, details: &str, screen: Screen) -> String {
    let word = serde_json::to_value(verdict.verdict).unwrap_or_default();
    let word = word.as_str().unwrap_or_default();
    let mut text = screen.wrap(&format!("{word}: {}", verdict.reason));
    for finding in &verdict.findings {
        text += &screen.wrap_foreign(&sentence(finding));
    }
    text += details;
    for left in &verdict.not_looked_at {
        text += &screen.wrap_foreign(&format!("not looked at: {}: {}", left.what, left.why));
    }
    if verdict.reference.is_none() {
        text += &screen.wrap("not looked at: right results: the kernel is compared with nothing");
    }
    if let Some(next) = &verdict.next {
        text += &format!("next: {next}\n");
    }
    format::on_screen(&text, screen)
}

fn sentence(finding: &Finding) -> String {
    let level = if finding.level == Level::Note {
        "note: "
    } else {
        ""
    };
    let place = match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!("{file}, line {line}"),
        _ => finding.kernel.clone().unwrap_or_default(),
    };
    format!("{level}{place}: {} ({})", finding.message, finding.tool)
}

/// Times in seconds: here, and on a GPU of this name.
pub fn times(
    here: Option<f64>,
    there: Option<&TimeElsewhere>,
    gpu: &str,
    screen: Screen,
) -> String {
    let mut said = Vec::new();
    if let Some(seconds) = here {
        said.push(format!("{} here, measured", format::time(seconds)));
    }
    if let Some(time) = there {
        said.push(format!(
            "{} on an {gpu}, by the model",
            format::time(time.seconds)
        ));
    }
    match said.is_empty() {
        true => String::new(),
        false => screen.wrap(&format!("time: {}", said.join("; "))),
    }
}

//! The doctor's report.

use super::findings::{Findings, Health};
use super::lines::BROKEN;
use crate::cli::Global;
use crate::cli::environment::VARIABLES;
use crate::console;
use crate::report::wrap::wrapped;
use std::env;

const MARKS: [&str; 5] = [BROKEN, "MISSING", "NONE", "NOT WRITABLE", "FAKE"];

/// The lines, what to install and the verdict, in a terminal's width.
pub(crate) fn report(findings: &Findings, lines: &[(&str, String)], health: Health, global: &Global) -> String {
    let width = console::width();
    let is_wrong = |line: &str| MARKS.iter().any(|mark| line.contains(mark));
    let shown = lines.iter().filter(|(_, text)| !global.quiet || is_wrong(text));
    let mut text: String = shown.map(|(what, text)| line(what, text, width)).collect();
    for (name, value) in environment().into_iter().filter(|_| global.verbose) {
        text += &line("variable", &format!("{name}={value}"), width);
    }
    if !global.quiet || health == Health::Nothing {
        let missing = findings.missing.iter().map(|r| line("install", &format!("{}: {}", r.what, r.packages), width));
        text.extend(missing);
    }
    text + &line("verdict", health.sentence(), width)
}

/// What the environment sets of all that is read.
fn environment() -> Vec<(&'static str, String)> {
    let set = |name| env::var_os(name).map(|value| (name, value.to_string_lossy().into_owned()));
    VARIABLES.iter().filter_map(|variable| set(variable.name)).collect()
}

fn line(what: &str, text: &str, width: usize) -> String {
    let first = format!("{what:<10} ");
    let rest = " ".repeat(11);
    let text = tilde(text);
    let pieces = text.split('\n').enumerate();
    pieces.map(|(i, piece)| wrapped(piece, if i == 0 { &first } else { &rest }, &rest, width)).collect()
}

/// The home folder shown as `~`.
fn tilde(text: &str) -> String {
    match env::var("HOME").ok().map(|h| h.trim_end_matches('/').to_owned()).filter(|h| h.len() > 1) {
        Some(home) => text.replace(&home, "~"),
        None => text.to_owned(),
    }
}

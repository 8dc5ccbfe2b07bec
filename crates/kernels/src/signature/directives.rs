//! What the directives of a text say, and which macros it defines or uses itself.

use crate::tokens::{tokens, without_comments};
use gpulab_system::text::Joined;
use std::collections::BTreeMap;

pub(super) fn is_qualifier(word: &str) -> bool {
    const PLAIN: [&str; 9] =
        ["const", "restrict", "__restrict__", "volatile", "static", "inline", "extern", "register", "__restrict"];
    /// These have two names: `global` and `__global`.
    const SPACES: [&str; 7] = ["global", "constant", "local", "private", "read_only", "write_only", "read_write"];
    PLAIN.contains(&word) || SPACES.contains(&word.strip_prefix("__").unwrap_or(word))
}

/// The first word, and what follows it.
pub(super) fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()))
}

/// Names whose values a conditional asks for, as of `#if NAME == 2`.
pub(super) fn compared_names(word: &str, rest: &str) -> impl Iterator<Item = String> {
    let words = tokens(rest);
    let is_value = |at: usize, name: &str| {
        is_identifier(name) && words[..at].iter().rev().find(|word| *word != "(").is_none_or(|word| word != "defined")
    };
    let has_sign = words.iter().any(|word| ["=", "<", ">"].contains(&word.as_str()));
    let names = words.iter().enumerate().filter(|(at, name)| *name != "defined" && is_value(*at, name));
    let names: Vec<String> = names.map(|(_, name)| name.clone()).collect();
    names.into_iter().filter(move |_| word == "if" && has_sign)
}

pub(super) fn asked_names(word: &str, rest: &str) -> impl Iterator<Item = String> {
    let words = if word == "else" { Vec::new() } else { tokens(rest) };
    words.into_iter().filter(|word| is_identifier(word) && word != "defined" && !word.starts_with("cl_"))
}

pub(super) fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a word in front of a name begins a statement, and is no type.
pub(super) fn is_statement(word: &str) -> bool {
    ["return", "else", "case", "goto", "sizeof", "do", "kernel", "__kernel"].contains(&word)
}

/// Whether a conditional's lines count: those of a condition that is not understood do.
pub(super) fn is_true(word: &str, rest: &str, macros: &BTreeMap<String, Vec<String>>) -> bool {
    let words = tokens(rest);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !["(", ")"].contains(word)).collect();
    let is_defined = |name: &str| macros.contains_key(name);
    match (word, &words[..]) {
        ("ifdef", [name, ..]) => is_defined(name),
        ("ifndef", [name, ..]) => !is_defined(name),
        (_, ["defined", name]) => is_defined(name),
        (_, ["!", "defined", name]) => !is_defined(name),
        (_, [name, "=", "=", number]) if macros.contains_key(*name) => {
            macros.get(*name).is_some_and(|value| value.join("") == **number)
        }
        (_, [number]) if number.parse::<i64>().is_ok() => *number != "0",
        (_, [name]) => macros.get(*name).is_some_and(|value| value.join("") != "0"),
        _ => true,
    }
}

/// A text without its own definitions of those macros that somebody else gives: a compiler would take the text's.
pub(crate) fn without_definitions(text: &str, is_given: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n').map(|line| if defined_name(line).is_some_and(&is_given) { "\n" } else { line }).collect()
}

/// The macro without arguments that a line defines.
fn defined_name(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let (name, value) = split_word(rest.trim_start());
    (rest.starts_with([' ', '\t']) && !value.starts_with('(') && !value.ends_with('\\')).then_some(name)
}

/// Macros that gpulab sets for every kernel of a reader's.
pub(crate) const MACROS: [&str; 5] = ["T", "INDEX", "WG", "WG_X", "WG_Y"];

/// Those of gpulab's macros whose names a text uses for something of its own: they must not be set.
pub(crate) fn hidden_macros(text: &str) -> Vec<&'static str> {
    MACROS.into_iter().filter(|name| declares(text, name)).collect()
}

/// Whether a text declares a name itself, so that no macro may have it: `float T`, `#define WG 64`.
pub(super) fn declares(text: &str, name: &str) -> bool {
    let code = without_comments(text);
    let is_defined = code.lines().any(|line| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        directive
            .and_then(|rest| rest.strip_prefix("define"))
            .is_some_and(|rest| split_word(rest.trim_start()).0 == name)
    });
    let plain: String = code.lines().filter(|line| !line.trim_start().starts_with('#')).joined("\n");
    let is_type = |word: &str| {
        let is_other = is_qualifier(word) || is_statement(word) || ["unsigned", "signed", "void"].contains(&word);
        is_identifier(word) && !is_other && word != name
    };
    let is_declared = tokens(&plain).windows(2).any(|pair| pair[1] == name && is_type(&pair[0]));
    is_defined || is_declared
}

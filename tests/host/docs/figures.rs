//! Figures of the prose: each is bound to recorded cells by a mark, which `gpulab report --splice --check` holds against them,
//! or declared in `unbound.txt` with the reason why no cell has it.

use super::ROOT;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// What makes a whole number a figure; one with decimals is a figure anyway.
const UNITS: [&str; 16] = [
    "%",
    "times",
    "us",
    "ms",
    "ns",
    "s",
    "minutes",
    "clocks",
    "GHz",
    "MHz",
    "ulp",
    "GB/s",
    "TB/s",
    "Gop/s",
    "Gpair/s",
    "operations a",
];

/// Where a mark stood, directly before its number.
const BOUND: char = '\u{1}';

/// Why a figure has no cell.
const REASONS: [&str; 5] = ["hardware", "gpulab", "not kept", "arithmetic", "name"];

/// A page without code, blocks that commands fill and links' addresses, in one line.
fn prose(text: &str) -> String {
    let (mut kept, mut is_code, mut is_block) = (Vec::new(), false, false);
    for line in text.lines() {
        match line.trim() {
            fence if fence.starts_with("```") => is_code = !is_code,
            _ if is_code || line.starts_with("    ") => {}
            mark if mark.starts_with("<!-- gpulab ") => is_block = true,
            "<!-- end -->" => is_block = false,
            own if !is_block => kept.push(own),
            _ => {}
        }
    }
    let text = without(&kept.join(" "), "<!--=", "-->", &BOUND.to_string());
    without(&without(&text, "`", "`", "`"), "](", ")", "]")
}

/// A text with something in place of each part from an opening to its end.
fn without(text: &str, open: &str, close: &str, instead: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, inside)) = rest.split_once(open) {
        let Some((_, after)) = inside.split_once(close) else { break };
        kept += before;
        kept += instead;
        rest = after;
    }
    kept + rest
}

/// Where a page's figures stand that no mark binds.
fn unbound(prose: &str) -> Vec<Range<usize>> {
    let bytes = prose.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let whole = digits(at);
        if whole == 0 {
            at += 1;
            continue;
        }
        let mut end = at + whole;
        let decimals = if bytes.get(end) == Some(&b'.') { digits(end + 1) } else { 0 };
        end += if decimals > 0 { 1 + decimals } else { 0 };
        let before = prose[..at].chars().next_back();
        // Part of a name, a power, a path, a range of rungs or a version.
        let is_part = before.is_some_and(|c| c.is_alphanumeric() || ".^/-_".contains(c) || c == BOUND)
            || prose[end..].starts_with(|c: char| c.is_alphanumeric() || c == '^' || c == '_')
            || prose[end..].strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let rest = prose[end..].trim_start_matches(' ');
        let has_unit = UNITS
            .iter()
            .any(|unit| rest.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())));
        if !is_part && (decimals > 0 || has_unit) {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// Which figures of a page are neither bound nor within one of the declared texts, and which of these texts have none.
fn faults(prose: &str, declared: &[&str]) -> Vec<String> {
    let places: Vec<Range<usize>> =
        declared.iter().flat_map(|text| prose.match_indices(text).map(|(at, _)| at..at + text.len())).collect();
    let unbound = unbound(prose);
    let is_in = |figure: &Range<usize>, place: &Range<usize>| place.start <= figure.start && figure.end <= place.end;
    let free = unbound.iter().filter(|figure| !places.iter().any(|place| is_in(figure, place)));
    let around = |figure: &Range<usize>| {
        let from = prose[..figure.start].char_indices().rev().nth(30).map_or(0, |(at, _)| at);
        let to = prose[figure.end..].char_indices().nth(20).map_or(prose.len(), |(at, _)| figure.end + at);
        format!("{:?} is bound to no cell and not declared", &prose[from..to])
    };
    let is_idle = |text: &&&str| {
        !prose.match_indices(**text).any(|(at, _)| unbound.iter().any(|figure| is_in(figure, &(at..at + text.len()))))
    };
    let idle = declared.iter().filter(is_idle).map(|text| format!("{text:?} declares no figure: take it out"));
    free.map(around).chain(idle).collect()
}

#[test]
fn every_figure_of_the_prose_is_bound_or_declared() {
    let list = fs::read_to_string(Path::new(ROOT).join("tests/host/docs/unbound.txt")).unwrap();
    let entries = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries: Vec<Vec<&str>> = entries.map(|line| line.splitn(3, " | ").collect()).collect();
    let wrong: Vec<&Vec<&str>> = entries.iter().filter(|e| e.len() != 3 || !REASONS.contains(&e[1])).collect();
    assert!(wrong.is_empty(), "PAGE | REASON | TEXT, with a reason of {REASONS:?}: {wrong:?}");
    let docs = fs::read_dir(Path::new(ROOT).join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let docs = docs.filter_map(|name| Some(format!("docs/{}", name.to_str().filter(|name| name.ends_with(".md"))?)));
    // Printed by the program, as a test says.
    let pages: BTreeSet<String> = docs
        .chain(["README.md".to_owned()])
        .filter(|p| !["docs/commands.md", "docs/columns.md"].contains(&&**p))
        .collect();
    let unknown: Vec<_> = entries.iter().filter(|entry| !pages.contains(entry[0])).collect();
    assert!(unknown.is_empty(), "no such page: {unknown:?}");
    let all = pages.iter().flat_map(|page| {
        let text = fs::read_to_string(Path::new(ROOT).join(page)).unwrap();
        let declared: Vec<&str> = entries.iter().filter(|entry| entry[0] == page).map(|entry| entry[2]).collect();
        faults(&prose(&text), &declared).into_iter().map(move |fault| format!("{page}: {fault}"))
    });
    let all: Vec<String> = all.collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn figures_without_a_mark_are_found() {
    let of = |text: &str| {
        let prose = prose(text);
        unbound(&prose).into_iter().map(|place| prose[place].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("gains 3.27 times, costs 4 % and\n12 us; 0.54."), ["3.27", "4", "12", "0.54"]);
    assert_eq!(of("gains <!--= a : b -->3.27 times in <!--= a : c -->12 us"), [""; 0]);
    assert_eq!(of("v3.1.2, 2^28 floats, `--n 1.5`, [x](y/1.2) and 32 banks, 2.x"), [""; 0]);
    assert_eq!(of("<!-- gpulab show -->\n1.5 us\n<!-- end -->\n```\n1.5\n```\n    1.5\n1.6"), ["1.6"]);
    let text = prose("takes 4 % and 5 %");
    assert_eq!(faults(&text, &["4 %", "5 %"]), [""; 0]);
    assert_eq!(faults(&text, &["4 %"]).len(), 1);
    assert_eq!(faults(&text, &["4 %", "5 %", "6 %", "and"]).len(), 2);
}

//! The rooms of `src/` and the arrows between them: who may name whom, in one table.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Each folder or file of `src/`, and the others that it may name. A room stands below those that it names: no circles.
const ROOMS: &[(&str, &[&str])] = &[
    ("children", &[]),
    ("data", &[]),
    ("error", &[]),
    ("files", &[]),
    ("memory", &[]),
    ("process", &[]),
    ("stats", &[]),
    ("stdout", &[]),
    ("suggest", &[]),
    ("plan", &["data"]),
    ("terminal", &["stdout"]),
    ("occupancy", &["error"]),
    ("check", &["data", "plan"]),
    ("cpu", &["data", "plan"]),
    ("exchange", &["data", "plan"]),
    ("graph", &["check", "cpu", "data"]),
    ("input", &["data", "error", "files", "graph"]),
    ("kernels", &["cpu", "data", "plan"]),
    ("values", &["kernels", "plan", "suggest"]),
    ("device", &["children", "cpu", "data", "error", "memory", "plan"]),
    (
        "runner",
        &["check", "cpu", "data", "device", "exchange", "files", "kernels", "memory", "occupancy", "plan", "stats"],
    ),
    ("oracle", &["check", "children", "data", "device", "error", "files", "input", "kernels", "plan"]),
    (
        "worker",
        &[
            "children", "data", "device", "error", "files", "input", "kernels", "memory", "oracle", "plan", "runner",
            "stdout", "terminal",
        ],
    ),
    ("judging", &["data", "error", "kernels", "plan", "runner", "worker"]),
    ("record", &["data", "device", "kernels", "plan", "runner", "stats"]),
    (
        "ceilings",
        &["data", "device", "error", "exchange", "files", "kernels", "plan", "record", "runner", "stats", "worker"],
    ),
    ("compare", &["data", "record", "runner", "stats"]),
    ("count", &["data", "error", "files", "kernels", "plan", "record", "runner", "worker"]),
    ("exercise", &["count", "data", "error", "files", "kernels"]),
    ("store", &["error", "files", "record", "runner", "terminal"]),
    ("sweep", &["data", "device", "error", "kernels", "plan", "record", "runner", "store", "values", "worker"]),
    (
        "tune",
        &["ceilings", "data", "device", "error", "files", "kernels", "plan", "record", "runner", "sweep", "worker"],
    ),
    ("why", &["ceilings", "count", "data", "kernels", "plan", "record", "runner", "values"]),
    ("experiments", &["data", "exchange", "kernels", "plan", "record", "runner", "values"]),
    (
        "report",
        &[
            "ceilings",
            "check",
            "compare",
            "count",
            "data",
            "judging",
            "kernels",
            "occupancy",
            "plan",
            "record",
            "runner",
            "stats",
            "terminal",
            "tune",
            "values",
            "why",
        ],
    ),
    ("cli", &["count", "data", "kernels", "plan", "runner", "sweep", "tune", "values"]),
    ("console", &["cli", "error", "report", "terminal"]),
    ("interrupt", &[]),
    (
        "counting",
        &[
            "ceilings",
            "count",
            "data",
            "error",
            "interrupt",
            "kernels",
            "plan",
            "record",
            "report",
            "runner",
            "store",
            "terminal",
            "why",
            "worker",
        ],
    ),
    ("outputs", &["console", "error", "record", "report", "store", "terminal"]),
    (
        "shown",
        &[
            "ceilings",
            "count",
            "error",
            "experiments",
            "files",
            "kernels",
            "record",
            "report",
            "runner",
            "store",
            "suggest",
            "values",
        ],
    ),
    ("words", &["cli", "experiments", "kernels", "report", "suggest"]),
    ("adopt", &["error", "files", "input", "kernels", "oracle", "report", "suggest", "values", "words"]),
    (
        "bench",
        &[
            "adopt",
            "ceilings",
            "cli",
            "console",
            "count",
            "data",
            "device",
            "error",
            "interrupt",
            "judging",
            "kernels",
            "memory",
            "plan",
            "record",
            "report",
            "runner",
            "sweep",
            "terminal",
            "tune",
            "worker",
        ],
    ),
    (
        "ladder",
        &[
            "bench",
            "ceilings",
            "cli",
            "compare",
            "console",
            "counting",
            "data",
            "device",
            "error",
            "files",
            "interrupt",
            "kernels",
            "outputs",
            "plan",
            "record",
            "report",
            "runner",
            "stats",
            "store",
            "sweep",
            "terminal",
            "values",
            "worker",
        ],
    ),
    ("lesson", &["error", "experiments", "kernels", "suggest", "values", "words"]),
    (
        "commands",
        &[
            "adopt",
            "bench",
            "ceilings",
            "children",
            "cli",
            "compare",
            "console",
            "count",
            "counting",
            "cpu",
            "data",
            "device",
            "error",
            "exchange",
            "exercise",
            "experiments",
            "files",
            "graph",
            "input",
            "interrupt",
            "judging",
            "kernels",
            "ladder",
            "lesson",
            "memory",
            "occupancy",
            "outputs",
            "plan",
            "record",
            "report",
            "runner",
            "shown",
            "stats",
            "stdout",
            "store",
            "suggest",
            "sweep",
            "terminal",
            "tune",
            "values",
            "why",
            "words",
            "worker",
        ],
    ),
];

/// What the crate's root gives to all: macros of `data`, and the error type.
fn room_of(name: &str) -> &str {
    match name {
        "each_array" | "same_type" => "data",
        "Error" => "error",
        other => other,
    }
}

/// The code of a file: without comments and tests.
pub(super) fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// What follows each `crate::`: a name, or several in braces.
fn named(code: &str) -> Vec<String> {
    let first =
        |text: &str| text.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("").to_owned();
    let after = |rest: &str| match rest.strip_prefix('{') {
        Some(rest) => rest.split('}').next().unwrap_or_default().split(',').map(first).collect(),
        None => vec![first(rest)],
    };
    code.split("crate::").skip(1).flat_map(after).filter(|name| !name.is_empty()).collect()
}

pub(super) fn rust_files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// For each room the others that it names, and where.
fn arrows() -> BTreeMap<String, BTreeMap<String, String>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut arrows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for path in files {
        let below = path.strip_prefix(&src).unwrap();
        let room = below.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if ["lib", "main"].contains(&room.as_str()) {
            continue;
        }
        let from = arrows.entry(room.clone()).or_default();
        for name in named(&code(&fs::read_to_string(&path).unwrap())) {
            let to = room_of(&name).to_owned();
            if to != room {
                from.entry(to).or_insert_with(|| below.display().to_string());
            }
        }
    }
    arrows
}

#[test]
fn rooms_name_only_those_that_the_table_allows() {
    let arrows = arrows();
    let known: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    let found: BTreeSet<&str> = arrows.keys().map(String::as_str).collect();
    assert_eq!(found, known, "ROOMS in tests/host/architecture.rs lists every folder and file of src/");
    for (room, allowed) in ROOMS {
        for (to, file) in &arrows[*room] {
            assert!(
                allowed.contains(&to.as_str()),
                "src/{file} names crate::{to}: the line of \"{room}\" in tests/host/architecture.rs does not allow it"
            );
        }
        for to in *allowed {
            assert!(arrows[*room].contains_key(*to), "\"{room}\" names {to} no more: take it out of the table");
        }
    }
}

#[test]
fn each_room_stands_below_those_that_it_names() {
    for (place, (room, allowed)) in ROOMS.iter().enumerate() {
        for to in *allowed {
            assert!(ROOMS[..place].iter().any(|(below, _)| below == to), "{room} stands before {to} in the table");
        }
    }
}

#[test]
fn names_are_found_in_code_only() {
    let text = "use crate::data::Array; // crate::kernels\nuse crate::{cpu, stats::x};\ncrate::each_array!(a);\n#[cfg(test)]\nmod tests { use crate::device; }";
    assert_eq!(named(&code(text)), ["data", "cpu", "stats", "each_array"]);
}

/// The name of a type that this line declares, if it does.
fn declared(line: &str) -> Option<String> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest).trim_start()
    });
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
    Some(name.chars().take_while(char::is_ascii_alphanumeric).collect())
}

#[test]
fn a_type_name_has_one_meaning() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut declarations: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files {
        let below = path.strip_prefix(&src).unwrap().display().to_string();
        for name in code(&fs::read_to_string(&path).unwrap()).lines().filter_map(declared) {
            // Without those whose name a macro is given.
            if !name.is_empty() {
                declarations.entry(name).or_default().insert(below.clone());
            }
        }
    }
    assert!(declarations.len() > 200, "{} types were found", declarations.len());
    let several = declarations.iter().filter(|(_, files)| files.len() > 1);
    assert_eq!(several.collect::<Vec<_>>(), [], "give each of these its own name");
}

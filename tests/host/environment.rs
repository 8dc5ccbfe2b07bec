//! The list of environment variables, held against the code that reads them.

use super::architecture::all_files;
use gpulab::cli::environment::VARIABLES;
use std::collections::BTreeSet;
use std::fs;

/// Between a parent and the processes that it starts: nothing for people.
const PRIVATE: [&str; 19] = [
    "GPULAB_LAYER",
    "GPULAB_KEEP",
    "GPULAB_KEEP_TO",
    "GPULAB_LAUNCH",
    "GPULAB_APART",
    "GPULAB_DOCTOR_TASK",
    "GPULAB_RECORD",
    "GPULAB_COUNT_FILE",
    "GPULAB_COUNT_WARP",
    "GPULAB_COUNT_SEGMENT",
    "GPULAB_COUNT_BANKS",
    "GPULAB_COUNT_RULE",
    "GPULAB_COUNT_PARTITIONS",
    "GPULAB_COUNT_UNITS",
    "GPULAB_TRACE_FILE",
    "GPULAB_TRACE_GROUPS",
    "GPULAB_ORDER",
    "GPULAB_READS_FILE",
    "GPULAB_RACES",
];

/// Read by libraries alone.
const BY_LIBRARIES: [&str; 1] = ["RUSTICL_ENABLE"];

/// The code of all crates, without tests and the list itself.
fn code() -> Vec<String> {
    let files = all_files()
        .into_iter()
        .filter(|path| !path.ends_with("cli/environment.rs"));
    let without_tests = |text: String| {
        text.split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    files
        .map(|path| without_tests(fs::read_to_string(path).unwrap()))
        .collect()
}

/// Names in quotes that are written as variables are: in a call that reads one, or in a constant of a file that does.
fn names_read() -> BTreeSet<String> {
    let is_name = |text: &&str| {
        text.len() > 2
            && text.contains(|c: char| c.is_ascii_uppercase())
            && text
                .chars()
                .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
    };
    let reads = |text: &String| {
        ["env::var", "env = "]
            .iter()
            .any(|call| text.contains(call))
    };
    let mut names = BTreeSet::new();
    for text in code().into_iter().filter(reads) {
        let pieces: Vec<&str> = text.split('"').collect();
        let quoted = pieces
            .chunks_exact(2)
            .filter(|pair| !pair[0].ends_with("value_name = "))
            .map(|pair| pair[1]);
        names.extend(quoted.filter(is_name).map(str::to_owned));
    }
    names
}

#[test]
fn every_variable_that_is_read_is_in_the_list_and_no_other() {
    let listed: BTreeSet<String> = VARIABLES
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let mut read = names_read();
    assert!(
        PRIVATE.iter().all(|name| read.remove(*name)),
        "a private variable is read no more: {read:?}"
    );
    // Marks in capitals, in files that read variables as well.
    read.retain(|name| {
        ![
            "BROKEN",
            "INDEX",
            "MISSING",
            "NONE",
            "FAKE",
            "FP64",
            "FACTOR",
            "FAST_RELAXED_MATH",
            "CARGO_PKG_VERSION",
        ]
        .contains(&name.as_str())
    });
    let known: BTreeSet<String> = listed
        .iter()
        .filter(|n| !BY_LIBRARIES.contains(&n.as_str()))
        .cloned()
        .collect();
    assert_eq!(
        read, known,
        "src/cli/environment.rs lists what the code reads"
    );
}

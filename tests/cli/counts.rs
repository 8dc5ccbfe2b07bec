//! `gpulab count --against`: a verdict that edits of the text alone do not change.

#[path = "../gate/counts/edits/mod.rs"]
mod edits;

use crate::binary::gpulab;
use edits::Tree;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Of all edits, each so many is tried here; `scripts/gate counts` tries all.
const STEP: usize = 20;

#[test]
fn plants_are_found_and_harmless_edits_raise_no_alarm() {
    let tree = Tree::new().unwrap();
    let some: Vec<_> = edits::all().step_by(STEP).collect();
    assert!(some.iter().any(|edit| edit.is_plant()) && some.iter().any(|edit| !edit.is_plant()));
    let objections: Vec<String> = some
        .iter()
        .filter_map(|edit| Some(format!("{}: {}", edit.name(), tree.objection(edit)?)))
        .collect();
    assert_eq!(
        objections,
        Vec::<String>::new(),
        "{}",
        objections.join("\n")
    );
}

#[test]
fn counts_are_held_against_those_of_a_file() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own/right/reduce_tree.cl");
    let text = fs::read_to_string(tree).unwrap();
    let ask = "__kernel void";
    assert!(text.contains(ask));
    fs::write(at("tree.cl"), &text).unwrap();
    fs::write(
        at("asks.cl"),
        text.replace(ask, "#if defined(__x86_64__)\n#endif\n__kernel void"),
    )
    .unwrap();
    fs::write(at("text.csv"), "no counts").unwrap();
    let holds = |cases: &[(&str, i32, &str)]| {
        for (line, wanted, why) in cases {
            let words: Vec<&str> = ["count", "-q"].into_iter().chain(line.split(' ')).collect();
            let output = gpulab(&words).current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(
                output.status.code() == Some(*wanted) && said.contains(why),
                "{line}: {:?} {said}",
                output.status
            );
        }
    };
    holds(&[
        ("tree.cl --as reduce --csv base.csv", 0, ""),
        (
            "tree.cl --as reduce --against base.csv --fail-on all",
            0,
            "every count is as in base.csv",
        ),
        (
            "tree.cl --as reduce --against base.csv --machine wave64",
            2,
            "it was counted for warp=32",
        ),
        (
            "tree.cl --as reduce --against base.csv -n 1000",
            2,
            "it has no counts of reduce/tree i32 n=1000",
        ),
        (
            "tree.cl --as reduce --against text.csv",
            2,
            "write them with --csv",
        ),
        (
            "tree.cl --as reduce --against none.csv",
            2,
            "cannot read none.csv",
        ),
        (
            "asks.cl --as reduce --against base.csv",
            7,
            "asks for the macro __x86_64__",
        ),
        (
            "reduce:3 --wg 96 -n 1000 --against base.csv",
            1,
            "nothing was counted",
        ),
        ("reduce:3-4 -n 1000 --csv two.csv", 0, ""),
        (
            "reduce --variant 4 -n 1000 --against two.csv",
            0,
            "every count is as in two.csv",
        ),
        ("reduce -n 1000 --variant 3,wide --csv three.csv", 0, ""),
        (
            "reduce -n 1000 --variant 3,wide --wg 96 --against three.csv",
            6,
            "which did not run now",
        ),
    ]);
    // More of everything, and the limit that is met names what it allows.
    fs::write(
        at("tree.cl"),
        text.replace("s /= 2)", "s = s / 2 + (get_num_groups(0) == 0))"),
    )
    .unwrap();
    holds(&[
        (
            "tree.cl --as reduce --against base.csv --fail-on item_instructions:3%,segments",
            6,
            "--fail-on allows +3.0%",
        ),
        (
            "tree.cl --as reduce --against base.csv --fail-on item_instructions:3% --json -",
            6,
            "\"rule\": \"more_work\"",
        ),
        (
            "tree.cl --as reduce --against base.csv --fail-on segments",
            0,
            "item_instructions",
        ),
    ]);
}

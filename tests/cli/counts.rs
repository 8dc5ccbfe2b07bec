//! `gpulab count --save` and `--against`: the same bytes everywhere, and a verdict that edits of the text alone do not change.

#[path = "../gate/counts/edits/mod.rs"]
mod edits;

use crate::binary::{gpulab, run};
use edits::Tree;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Of all edits, each so many is tried here; `scripts/gate counts` tries all.
const STEP: usize = 26;

#[test]
#[ignore = "long"]
fn plants_are_found_and_harmless_edits_raise_no_alarm() {
    let tree = Tree::new().unwrap();
    let some: Vec<_> = edits::all().step_by(STEP).collect();
    assert!(some.iter().any(|edit| edit.is_plant()) && some.iter().any(|edit| !edit.is_plant()));
    let objections: Vec<String> =
        some.iter().filter_map(|edit| Some(format!("{}: {}", edit.name(), tree.objection(edit)?))).collect();
    assert_eq!(objections, Vec::<String>::new(), "{}", objections.join("\n"));
}

/// A folder with a reader's kernel.
fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own/right/reduce_tree.cl");
    fs::copy(tree, dir.path().join("tree.cl")).unwrap();
    dir
}

/// Standard output and error, and the exit code, of `gpulab` in a folder.
fn run_in(dir: &Path, line: &str) -> (String, i32) {
    let output = gpulab(&line.split(' ').collect::<Vec<_>>()).current_dir(dir).output().unwrap();
    let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (all, output.status.code().unwrap())
}

#[test]
#[ignore = "long"]
fn counts_are_the_same_bytes_wherever_they_are_kept() {
    let (here, there) = (folder(), folder());
    for what in ["tree.cl --as reduce", "tree.cl:tree --as reduce", "reduce --own tree.cl"] {
        let (said, code) = run_in(here.path(), &format!("count {what} -q --save here.json --force"));
        assert_eq!(code, 0, "{what}: {said}");
        let (kept, said, code) = run(&["count", "reduce:3", "--save", "-", "-q"]);
        assert!(code == 0 && kept.starts_with("{\n\"gpulab_counts\": 1,"), "{said}");
        assert_eq!(run_in(there.path(), &format!("count {what} -q --save there.json --force")).1, 0);
        let [here, there] =
            [here.path().join("here.json"), there.path().join("there.json")].map(|at| fs::read_to_string(at).unwrap());
        assert_eq!(here, there, "{what}");
        assert!(here.contains("scratch[lid]") && !here.contains("/tmp"), "{here}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let count = |more: &str| run_in(dir.path(), &format!("count tree.cl --as reduce -q {more}"));
    assert_eq!(count("--save base.json").1, 0);
    let (said, code) = count("--against base.json --fail-on all");
    assert!(code == 0 && said.contains("every count is as in base.json"), "{said}");
    fs::write(at("text.json"), "no counts").unwrap();
    for (more, want) in [
        ("--against base.json --warp 64", "it was counted for warp=32"),
        ("--against base.json -n 1000", "it has no counts of reduce/tree i32 n=1000"),
        ("--against text.json", "as gpulab count --save writes them"),
        ("--against none.json", "cannot read none.json"),
    ] {
        let (said, code) = count(more);
        assert!(code == 2 && said.contains(want), "{more}: {code} {said}");
    }
    // More of everything, and the limit that is met names what it allows.
    let text = fs::read_to_string(at("tree.cl")).unwrap();
    fs::write(at("tree.cl"), text.replace("s /= 2)", "s = s / 2 + (get_num_groups(0) == 0))")).unwrap();
    let (said, code) = count("--against base.json --fail-on item_instructions:3%,segments");
    assert!(code == 6 && said.contains("--fail-on allows +3.0%"), "{code} {said}");
    let (said, code) = count("--against base.json --fail-on segments");
    assert!(code == 0 && said.contains("item_instructions"), "{code} {said}");
    let (said, code) = count("--against base.json");
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_gate_of_nothing_fails() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let ask = "__kernel void";
    let text = fs::read_to_string(at("tree.cl")).unwrap();
    assert!(text.contains(ask));
    fs::write(at("asks.cl"), text.replace(ask, "#if defined(__x86_64__)\n#endif\n__kernel void")).unwrap();
    for (line, wanted, why) in [
        ("reduce:3 --wg 96 --save none.json", 1, "nothing was counted"),
        ("asks.cl --as reduce --save none.json", 7, "asks for the macro __x86_64__"),
        ("asks.cl --as reduce", 0, "asks"),
        ("reduce:3-4 -n 1000 --save base.json", 0, ""),
        ("reduce:3 --wg 96 -n 1000 --against base.json", 1, "nothing was counted"),
        ("reduce --variant 4 -n 1000 --against base.json", 0, "every count is as in base.json"),
        ("reduce --variant wide,3 --wg 96 -n 1000 --save wide.json", 0, ""),
    ] {
        let (said, code) = run_in(dir.path(), &format!("count -q {line}"));
        assert!(code == wanted && said.contains(why), "{line}: {code} {said}");
    }
    assert!(!at("none.json").exists());
    // A case that was kept and is not counted now.
    let base = fs::read_to_string(at("base.json")).unwrap();
    fs::write(
        at("base.json"),
        base.replace("reduce/first_add", "reduce/wide").replace("\"settings\":\"wg=256\"", "\"settings\":\"wg=96\""),
    )
    .unwrap();
    let (said, code) = run_in(dir.path(), "count -q reduce --variant 3,wide -n 1000 --wg 96 --against base.json");
    assert!(
        code == 6 && said.contains("counts of reduce/sequential i32 n=1000, which did not run now"),
        "{code} {said}"
    );
    let empty =
        base.split("\"launches\"").next().unwrap().to_owned() + "\"launches\": [], \"lines\": [], \"sources\": {}}";
    fs::write(at("empty.json"), empty).unwrap();
    let (said, code) = run_in(dir.path(), "count -q reduce:3 -n 1000 --against empty.json");
    assert!(code == 2 && said.contains("it has no counts of"), "{code} {said}");
}

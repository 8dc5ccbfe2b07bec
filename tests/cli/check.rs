//! `gpulab check`: faults that a repository's own tests do not see.

use crate::binary::gpulab;
use std::fs;
use tempfile::TempDir;

#[test]
fn three_faults_are_found_where_they_stand() {
    let cache = TempDir::new().unwrap();
    let check = |files: &str| {
        let output = gpulab(&["check", files, "--github", "--strict", "--cache"])
            .arg(cache.path())
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text, output.status.code().unwrap())
    };
    let (first, code) = check("*.cl");
    for line in include_str!("../check/expected.txt").lines() {
        assert!(first.contains(line), "{line} is not in {first}");
    }
    assert_eq!((&first, code), (&check("*.cl").0, 4), "kept answers");
    let (right, code) = check("../labels/right_shuffled_tile.cl");
    assert_eq!(code, 0, "{right}");
    assert_eq!(check("none*.cl").1, 2);
}

#[test]
fn what_a_guess_or_the_simulator_explains_is_no_error() {
    const TILE: &str =
        "__kernel void k(__global float *x) { __local float t[1024]; int l = get_local_id(0);
        t[l] = x[get_global_id(0)]; barrier(1); x[get_global_id(0)] = t[1023 - l]; }";
    const SINES: &str = "__kernel void k(__global float *x) { float c; int i = get_global_id(0); x[i] = sincos(x[i], &c) + c; }";
    const TASK: &str =
        "__kernel void k(__global float *x, int n) { for (int i = 0; i < n; i++) x[i] += 1; }";
    const MACROS: &str = "__kernel void k(__global T *x) { x[get_global_id(0)] = BLAH; }";
    let folder = TempDir::new().unwrap();
    for (name, text) in [
        ("tile.cl", TILE),
        ("sines.cl", SINES),
        ("task.cl", TASK),
        ("macros.cl", MACROS),
        ("gpulab.toml", "[[check]]\nfiles = \"none/*.cl\"\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let check = |arguments: &[&str]| {
        let mut command = gpulab(arguments);
        let output = command.current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text.replace("\n  ", " "), output.status.code().unwrap())
    };
    let (text, code) = check(&["check", "*.cl", "tile.cl"]);
    assert_eq!(code, 0, "{text}");
    for said in [
        "warning: tile.cl:2: kernel k: a value is used here that was never set; this may follow from a work-group that was guessed",
        "not looked at: sines.cl, kernel k in Oclgrind: values never set were not looked for",
        "not looked at: files = \"none/*.cl\" of gpulab.toml: none/*.cl: there is no such file",
        "FOUND: 0 errors and 1 warning in 4 files; 3 things not looked at",
    ] {
        assert!(text.contains(said), "{said} is not in {text}");
    }
    let (junit, _) = check(&["check", "tile.cl", "--strict", "--junit", "-"]);
    assert_eq!(junit.matches("<failure").count(), 1, "{junit}");
    fs::remove_file(folder.path().join("gpulab.toml")).unwrap();
    check(&["check", "--init"]);
    let settings = fs::read_to_string(folder.path().join("gpulab.toml")).unwrap();
    let line = r#"define = { BLAH = "?", T = "?" }  # without it: T = float, BLAH = 4"#;
    assert!(settings.contains(line), "{settings}");
}

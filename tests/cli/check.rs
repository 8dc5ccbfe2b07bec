//! `gpulab check`: faults that a repository's own tests do not see.

use crate::binary::gpulab;
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

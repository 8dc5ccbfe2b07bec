//! Kernel sources with a mistake in them.

use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A copy of the kernel sources, with `from` replaced by `to` in one file.
pub fn edited_kernels(file: &str, from: &str, to: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    copy_tree(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("cl"),
        dir.path(),
    );
    let path = dir.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from:?}");
    fs::write(path, text.replace(from, to)).unwrap();
    dir
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

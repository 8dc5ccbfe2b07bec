//! Readers' kernels: wrong ones get the hint that their file names, right ones land on the ladder.

use crate::binary::run;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Fewest kernels of each kind.
const WRONG: usize = 40;
const RIGHT: usize = 12;

/// A kernel of `tests/own`, with what its first lines say.
struct Own {
    path: PathBuf,
    text: String,
}

impl Own {
    /// What stands behind `// name:`.
    fn says(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Standard output and standard error of `gpulab try`, and its exit code.
    fn tried(&self, more: &[&str]) -> (String, String, i32) {
        let options = self.says("options").unwrap_or_default().split_whitespace();
        let path = self.path.to_str().unwrap();
        let family = self.says("family").unwrap();
        let args: Vec<&str> = ["try", path, "--as", family, "--quick"].into_iter().chain(options).collect();
        run(&[&args, more].concat())
    }
}

/// Those in a folder that name their family: the others are included.
fn kernels(folder: &str) -> Vec<Own> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| Own { text: fs::read_to_string(&path).unwrap(), path };
    paths.into_iter().map(read).filter(|own| own.says("family").is_some()).collect()
}

/// Does something with each, a few at a time; what it objects to.
fn each(all: &[Own], object: impl Fn(&Own) -> Option<String> + Sync) -> Vec<String> {
    let (next, objections) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(own) = next.lock().unwrap().next() else { return };
                    let objection = object(own).map(|what| format!("{}: {what}", own.path.display()));
                    objections.lock().unwrap().extend(objection);
                }
            });
        }
    });
    objections.into_inner().unwrap()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn wrong_kernels_get_their_hints_and_are_not_timed() {
    let all = kernels("wrong");
    assert!(all.len() >= WRONG, "{} wrong kernels", all.len());
    let objections = each(&all, |own| {
        let (told, said, code) = own.tried(&["--variant", "1"]);
        let (hint, exit) = (own.says("hint").unwrap(), own.says("exit").unwrap_or("4"));
        let flat = on_one_line(&told);
        if !flat.contains("hint: ") || !flat.contains("next: ") || !flat.contains(hint) || code.to_string() != exit {
            return Some(format!("wants {exit}, {hint}; got {code}:\n{told}{said}"));
        }
        told.contains("GB/s").then(|| format!("the ladder ran all the same:\n{told}"))
    });
    assert!(objections.is_empty(), "{}", objections.join("\n\n"));
}

#[test]
fn right_kernels_are_right_and_land() {
    let all = kernels("right");
    assert!(all.len() >= RIGHT, "{} right kernels", all.len());
    let objections = each(&all, |own| {
        let (told, said, code) = own.tried(&["--variant", "1-2"]);
        let flat = on_one_line(&told);
        let name = own.path.file_stem().unwrap().to_str().unwrap();
        let lands = [format!("{name} ("), ": right at ".into()].iter().all(|text| flat.contains(text.as_str()))
            && [" lands between ", " lands below ", " is the fastest"].iter().any(|text| flat.contains(text));
        (code != 0 || !lands || flat.contains("hint: ")).then(|| format!("got {code}:\n{told}{said}"))
    });
    assert!(objections.is_empty(), "{}", objections.join("\n\n"));
}

#[test]
fn templates_are_right() {
    let folder = tempfile::tempdir().unwrap();
    for family in ["reduce", "dot", "transpose", "minplus"] {
        let path = folder.path().join(format!("{family}.cl"));
        let (text, _, code) = run(&["try", "--template", family]);
        assert_eq!(code, 0);
        fs::write(&path, text).unwrap();
        let (told, said, code) = run(&["try", path.to_str().unwrap(), "--as", family, "--quick", "--variant", "1"]);
        assert_eq!(code, 0, "{told}{said}");
        assert!(told.contains(": right at "), "{told}");
    }
}

//! The registry and the files in `cl/` agree: no orphan, no gap, no missing entry point or header.

use gpulab::exchange::EXCHANGES;
use gpulab::kernels::{self, COMMON, Family, Rung};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn rungs() -> impl Iterator<Item = (&'static Family, &'static Rung)> {
    kernels::everything().flat_map(|f| f.kernels().map(move |r| (f, r)))
}

fn files_below(dir: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files_below(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

#[test]
fn every_file_is_registered_and_every_entry_has_its_file() {
    let mut on_disk = BTreeSet::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cl"), "", &mut on_disk);
    let others = COMMON.iter().chain(EXCHANGES.iter().flat_map(|e| e.sources)).map(|(path, _)| *path);
    let registered: BTreeSet<String> = rungs().map(|(_, r)| r.path).chain(others).map(str::to_owned).collect();
    assert_eq!(on_disk, registered);
}

#[test]
fn numbers_run_without_a_gap_and_names_are_unique() {
    for family in kernels::everything() {
        let numbers: Vec<Option<u32>> = family.ladder.iter().map(Rung::number).collect();
        // The material of some ladders numbers its steps from 0.
        let first = numbers[0].filter(|&first| first <= 1).unwrap();
        assert_eq!(numbers, (first..).take(numbers.len()).map(Some).collect::<Vec<_>>(), "{}", family.name);
        assert!(family.references.iter().all(|r| r.number().is_none()), "{}", family.name);
        let names: BTreeSet<&str> = family.kernels().map(Rung::variant).collect();
        assert_eq!(names.len(), family.kernels().count(), "{}", family.name);
        let folders: BTreeSet<&str> = family.kernels().filter_map(|r| r.path.split('/').next()).collect();
        assert_eq!(folders, BTreeSet::from([family.name]));
    }
}

#[test]
fn every_rung_has_its_entry_point_once() {
    for (_, rung) in rungs() {
        let entry = format!("{}(", rung.kernel());
        let kernels = rung.text.matches(&entry).count();
        assert_eq!(kernels, 1, "{}: {entry}", rung.path);
    }
}

#[test]
fn every_header_is_complete() {
    let mut ideas = BTreeSet::new();
    for (family, rung) in rungs() {
        let first = rung.text.lines().next().unwrap();
        let name = rung.number().map_or(rung.variant().to_owned(), |number| format!("v{number}"));
        assert!(first.starts_with(&format!("// {} {name}: ", family.name)), "{}: {first}", rung.path);
        for label in ["Idea", "Removes", "Remains"] {
            let text = rung.header(label).unwrap_or_else(|| panic!("{} has no {label}", rung.path));
            assert!(text.len() > 20, "{}: {label}: {text}", rung.path);
        }
        assert!(ideas.insert(rung.header("Idea")), "{}: an idea told twice", rung.path);
    }
}

/// What a file takes from the host by macro has a default, so that it compiles alone.
#[test]
fn every_macro_has_a_default() {
    for (_, rung) in rungs() {
        for name in ["WG", "TILE", "ROWS", "ITEMS", "VEC", "PAD", "ORDER", "T", "INDEX", "ACC", "DEPTH", "BUFFERS"] {
            let code = rung.text.lines().filter(|l| !l.trim_start().starts_with("//"));
            let used = code.clone().any(|l| {
                !l.starts_with("#if") && l.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
            });
            assert!(
                !used
                    || rung.text.contains(&format!("#ifndef {name}\n"))
                    || rung.text.contains(&format!("#define {name} (")),
                "{}: no default for {name}",
                rung.path
            );
        }
    }
}

#[test]
fn every_source_assembles_with_its_fragments() {
    for (_, rung) in rungs() {
        let unit = kernels::assemble(rung.path, &kernels::EMBEDDED).unwrap();
        assert!(!unit.text.contains("#include"), "{}", rung.path);
    }
}

#[test]
fn files_are_short() {
    for (_, rung) in rungs() {
        assert!(rung.text.lines().count() < 120, "{}", rung.path);
    }
}

//! The registry and the files in `cl/` agree: no orphan, no gap, no missing entry point or header.

use gpulab::exchange::EXCHANGES;
use gpulab::kernels::{self, Rung};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A kernel file: of a rung, or of what goes on between host and device.
struct File {
    path: &'static str,
    text: &'static str,
    /// What it is built from.
    parts: Vec<&'static str>,
}

impl File {
    fn new(path: &'static str) -> File {
        let text = kernels::text(path).unwrap_or_else(|| panic!("there is no {path}"));
        File {
            path,
            text,
            parts: vec![path],
        }
    }

    fn of_rung(rung: &'static Rung) -> File {
        File {
            parts: rung.files().collect(),
            ..File::new(&rung.path)
        }
    }

    /// The name of its main kernel.
    fn kernel(&self) -> String {
        kernels::entry_point(self.path)
    }

    /// With its fragments in place.
    fn assembled(&self) -> String {
        self.parts
            .iter()
            .map(|path| kernels::assemble(path, &kernels::embedded).unwrap().text)
            .collect()
    }

    /// The files that its parts include, and the parts themselves.
    fn fragments(&self) -> Vec<String> {
        let includes = |path: &&'static str| {
            let lines = kernels::text(path)
                .unwrap_or_else(|| panic!("there is no {path}"))
                .lines();
            lines
                .filter_map(|line| kernels::included(path, line))
                .collect::<Vec<_>>()
        };
        self.parts
            .iter()
            .flat_map(includes)
            .chain(self.parts.iter().map(|&path| path.to_owned()))
            .collect()
    }
}

/// Every kernel file that has a kernel.
fn files() -> Vec<File> {
    let rungs = kernels::everything().flat_map(|family| family.kernels().map(File::of_rung));
    let exchanged = EXCHANGES
        .iter()
        .flat_map(|exchange| exchange.sources)
        .map(|&path| File::new(path));
    rungs.chain(exchanged).collect()
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
    files_below(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("cl"),
        "",
        &mut on_disk,
    );
    // Exercises have a test of their own.
    on_disk.retain(|name| !name.starts_with("exercises/"));
    let files = files();
    let fragments = files.iter().flat_map(File::fragments);
    // What the runner needs of every device.
    let own = ["runner/canary.cl", "runner/scrub.cl"].map(str::to_owned);
    let of_own = ["common/restore.cl", "transpose/repeat.cl"].map(str::to_owned);
    let templates = kernels::FAMILIES
        .iter()
        .map(|family| format!("templates/{}.cl", family.name));
    let registered: BTreeSet<String> = files
        .iter()
        .map(|f| f.path.to_owned())
        .chain(fragments)
        .chain(own)
        .chain(of_own)
        .chain(templates)
        .collect();
    assert_eq!(on_disk, registered);
}

#[test]
fn numbers_run_without_a_gap_and_names_are_unique() {
    for family in kernels::everything() {
        let numbers: Vec<Option<u32>> = family.ladder.iter().map(Rung::number).collect();
        // PPC, chapter 4, numbers its versions from 0.
        let first = numbers[0].filter(|&first| first <= 1).unwrap();
        assert_eq!(
            numbers,
            (first..).take(numbers.len()).map(Some).collect::<Vec<_>>(),
            "{}",
            family.name
        );
        assert!(
            family
                .problem
                .references()
                .iter()
                .all(|r| r.number().is_none()),
            "{}",
            family.name
        );
        let names: BTreeSet<&str> = family.kernels().map(Rung::variant).collect();
        assert_eq!(names.len(), family.kernels().count(), "{}", family.name);
        let folders: BTreeSet<&str> = family
            .kernels()
            .filter_map(|r| r.path.rsplit('/').nth(1))
            .collect();
        assert_eq!(folders, BTreeSet::from([&*family.name]));
    }
}

#[test]
fn every_file_has_its_entry_point_once() {
    for file in files() {
        let entry = format!("{}(", file.kernel());
        let kernels = file.text.matches(&entry).count();
        assert_eq!(kernels, 1, "{}: {entry}", file.path);
    }
}

#[test]
fn every_source_assembles_with_its_fragments() {
    for file in files() {
        assert!(!file.assembled().contains("#include"), "{}", file.path);
    }
}

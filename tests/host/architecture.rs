//! The crates: what only one of them may need, and names that have one meaning in all. Their arrows are Cargo's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The code of a file: without comments and tests.
pub(super) fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    text[..end]
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The source folders of the crates, the program's last.
pub(super) fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"));
    let mut all: Vec<PathBuf> = folders.collect();
    all.sort();
    all.push(root.join("src"));
    all
}

/// All Rust files of the crates but those of tests.
pub(super) fn all_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    crates()
        .iter()
        .for_each(|folder| rust_files(folder, &mut files));
    files
}

/// What each crate depends on outside of tests, by the crates' names in the picture.
fn needs() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of = |folder: &PathBuf| {
        let manifest = folder.parent().unwrap();
        let name = if manifest == root {
            "program"
        } else {
            manifest.file_name().unwrap().to_str().unwrap()
        };
        let table: toml::Table = fs::read_to_string(manifest.join("Cargo.toml"))
            .unwrap()
            .parse()
            .unwrap();
        let listed = table
            .get("dependencies")
            .and_then(toml::Value::as_table)
            .into_iter()
            .flat_map(toml::Table::keys);
        (name.to_owned(), listed.cloned().collect())
    };
    crates().iter().map(of).collect()
}

#[test]
fn the_picture_of_the_crates_is_drawn_from_their_manifests() {
    let needs = needs();
    let mut picture = String::from("```mermaid\ngraph TD\n");
    for (from, all) in &needs {
        let crates = || all.iter().filter_map(|name| name.strip_prefix("gpulab-"));
        // What another of them needs has no arrow of its own.
        let through =
            |to: &str| crates().any(|other| needs[other].contains(&format!("gpulab-{to}")));
        crates()
            .filter(|to| !through(to))
            .for_each(|to| picture += &format!("    {from} --> {to}\n"));
    }
    picture += "```\n";
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    assert!(
        page.contains(&picture),
        "ARCHITECTURE.md has another picture than this one:\n{picture}"
    );
}

#[test]
fn only_the_engine_needs_opencl() {
    let needs = needs();
    let named = needs
        .iter()
        .filter(|(_, all)| all.contains("ocl"))
        .map(|(name, _)| name.as_str());
    assert_eq!(named.collect::<Vec<_>>(), ["engine"]);
}

/// The name of a type that this line declares for other files, if it does.
fn declared(line: &str) -> Option<String> {
    let line = line.trim_start().strip_prefix("pub")?;
    let line = line
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .map_or(line, |(_, rest)| rest)
        .trim_start();
    let name = ["struct ", "enum ", "trait ", "type "]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    Some(
        name.chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect(),
    )
}

#[test]
fn a_type_name_has_one_meaning() {
    // These have their names from traits of the standard library.
    let is_ours = |line: &&str| {
        !["type Target = ", "type Output = "]
            .iter()
            .any(|own| line.trim_start().starts_with(own))
    };
    let mut declarations: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in all_files() {
        for name in code(&fs::read_to_string(&path).unwrap())
            .lines()
            .filter(is_ours)
            .filter_map(declared)
        {
            // Without those whose name a macro is given.
            if !name.is_empty() {
                declarations.entry(name).or_default().insert(path.clone());
            }
        }
    }
    assert!(
        declarations.len() > 100,
        "{} types were found",
        declarations.len()
    );
    let several = declarations.iter().filter(|(_, files)| files.len() > 1);
    assert_eq!(
        several.collect::<Vec<_>>(),
        [],
        "give each of these its own name"
    );
}

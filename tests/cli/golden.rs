//! What every command prints, how it ends and which files it leaves, beside what it did when it was last looked at.
//!
//! `tests/golden/commands.txt` has a block for each command line: after `$` one whose output never varies, after `~` one that
//! measures, of whose output only the first word is kept, as the rest may vary. `GPULAB_GOLDEN=write` renews it.

use crate::binary::gpulab;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/commands.txt");

/// The lines of a run in a folder of its own: exit code, output, errors and the names of files.
fn lines(command: &str, is_measured: bool) -> Vec<String> {
    let home = TempDir::new().unwrap();
    for shared in ["data", "cl", "docs"] {
        std::os::unix::fs::symlink(
            Path::new(env!("CARGO_MANIFEST_DIR")).join(shared),
            home.path().join(shared),
        )
        .unwrap();
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let output = gpulab(&words)
        .current_dir(home.path())
        .env("COLUMNS", "80")
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let mut lines = vec![format!("exit {}", output.status.code().unwrap())];
    for (mark, bytes) in [("|", &output.stdout), ("!", &output.stderr)] {
        if is_measured && mark == "!" {
            continue;
        }
        let text = String::from_utf8_lossy(bytes).replace(home.path().to_str().unwrap(), "HOME");
        let shown = text.lines().take(if is_measured { 1 } else { usize::MAX });
        lines.extend(shown.map(|line| {
            format!(
                "{mark} {}",
                if is_measured {
                    line.split(' ').next().unwrap()
                } else {
                    line
                }
            )
        }));
    }
    let mut files: Vec<String> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.retain(|file| !["data", "cl", "docs"].contains(&file.as_str()));
    files.sort();
    lines.extend(files.iter().map(|file| format!("+ {file}")));
    lines
}

fn blocks(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut blocks = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("$ ") || line.starts_with("~ ") {
            name = line.to_owned();
            blocks.insert(name.clone(), Vec::new());
        } else {
            blocks
                .get_mut(&name)
                .expect("a line belongs to a command")
                .push(line.to_owned());
        }
    }
    blocks
}

/// Looks at one in three of the commands, or renews all.
fn look_at(part: usize) {
    let kept = blocks(&fs::read_to_string(FILE).unwrap());
    assert!(kept.len() > 50, "{} commands", kept.len());
    let is_renewed = std::env::var_os("GPULAB_GOLDEN").is_some_and(|value| value == "write");
    let mut text = String::new();
    let mut differing = Vec::new();
    for (at, (name, expected)) in kept.into_iter().enumerate() {
        let is_measured = name.starts_with('~');
        let command = name[2..].to_owned();
        if at % 3 != part && !is_renewed || is_renewed && part != 0 {
            continue;
        }
        let found = lines(&command, is_measured);
        if is_renewed {
            text.push_str(&format!("{name}\n{}\n\n", found.join("\n")));
        } else if expected != found {
            differing.push(format!(
                "{name}\nexpected:\n{}\nfound:\n{}\n",
                expected.join("\n"),
                found.join("\n")
            ));
        }
    }
    if is_renewed && part == 0 {
        fs::write(FILE, text).unwrap();
    }
    assert!(
        differing.is_empty(),
        "{} differ: GPULAB_GOLDEN=write renews {FILE}\n{}",
        differing.len(),
        differing.join("\n")
    );
}

#[test]
fn the_first_third_of_the_commands_says_what_it_said() {
    look_at(0);
}

#[test]
fn the_second_third_of_the_commands_says_what_it_said() {
    look_at(1);
}

#[test]
fn the_last_third_of_the_commands_says_what_it_said() {
    look_at(2);
}

//! Edits of kernels, and what `gpulab count --against` must say of each.

mod harmless;
mod kernels;
mod plants;

use harmless::HARMLESS;
use plants::PLANTS;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::{fs, io};
use tempfile::TempDir;

/// An edit of a kernel's file.
pub struct Edit {
    /// The words behind `gpulab count`.
    what: &'static str,
    file: &'static str,
    about: &'static str,
    /// What is replaced, wherever it stands, and by what.
    patches: &'static [(&'static str, &'static str)],
    /// Of a plant the count that must be named.
    found: Option<&'static str>,
}

/// All edits, plants first.
pub fn all() -> impl Iterator<Item = &'static Edit> {
    PLANTS.iter().chain(HARMLESS)
}

/// What every edit is judged by.
const LIMITS: &str = "all:2%";

impl Edit {
    pub fn name(&self) -> String {
        format!("{} {}", self.what, self.about)
    }

    pub fn is_plant(&self) -> bool {
        self.found.is_some()
    }
}

/// Copies of the kernels' files, and counts of what was not edited.
pub struct Tree {
    base: TempDir,
    kept: Mutex<BTreeMap<&'static str, Arc<Mutex<Option<String>>>>>,
}

/// The folders that edits may name.
const FOLDERS: [&str; 3] = ["cl", "data/examples", "tests/own/right"];

impl Tree {
    pub fn new() -> io::Result<Tree> {
        Ok(Tree {
            base: copies(|_| true)?,
            kept: Mutex::default(),
        })
    }

    /// What is wrong with the verdict on an edit, if anything.
    pub fn objection(&self, edit: &Edit) -> Option<String> {
        self.judge(edit).unwrap_or_else(Some)
    }

    fn judge(&self, edit: &Edit) -> Result<Option<String>, String> {
        let kept = self.kept(edit.what)?;
        let folder = copies(|folder| edit.file.starts_with(folder)).map_err(|e| e.to_string())?;
        let file = folder.path().join(edit.file);
        let mut text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", edit.file))?;
        for (find, put) in edit.patches {
            if !text.contains(find) {
                return Err(format!("{}: {find:?} is not there", edit.file));
            }
            text = text.replace(find, put);
        }
        fs::write(&file, text).map_err(|e| e.to_string())?;
        fs::write(folder.path().join("base.csv"), kept).map_err(|e| e.to_string())?;
        let (code, said) = count(
            folder.path(),
            edit.what,
            &["--against", "base.csv", "--fail-on", LIMITS],
        )?;
        let is_as_it_must = match edit.found {
            None => code == 0,
            Some(count) => code == 6 && said.contains(&format!("has more {count}:")),
        };
        Ok((!is_as_it_must).then(|| format!("JUDGED WRONG: {code}: {said}")))
    }

    /// What `--csv` writes of the kernel as it is.
    fn kept(&self, what: &'static str) -> Result<String, String> {
        let kept = self
            .kept
            .lock()
            .map_err(|e| e.to_string())?
            .entry(what)
            .or_default()
            .clone();
        let mut kept = kept.lock().map_err(|e| e.to_string())?;
        if let Some(kept) = &*kept {
            return Ok(kept.clone());
        }
        let file = format!("{}.csv", what.replace(['/', ' ', ':'], "_"));
        let (code, said) = count(self.base.path(), what, &["--csv", &file])?;
        let text = fs::read_to_string(self.base.path().join(file))
            .map_err(|e| format!("{code}: {said}: {e}"))?;
        Ok(kept.insert(text).clone())
    }
}

fn copies(is_needed: impl Fn(&str) -> bool) -> io::Result<TempDir> {
    let to = tempfile::tempdir()?;
    FOLDERS
        .iter()
        .filter(|name| is_needed(name))
        .try_for_each(|name| {
            copy(
                &Path::new(env!("CARGO_MANIFEST_DIR")).join(name),
                &to.path().join(name),
            )
        })?;
    Ok(to)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &to)?
        } else {
            fs::copy(&path, to).map(drop)?
        }
    }
    Ok(())
}

/// Runs `gpulab count` in a folder: its exit code, and what it says on standard error.
fn count(folder: &Path, what: &str, more: &[&str]) -> Result<(i32, String), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    command
        .current_dir(folder)
        .arg("count")
        .args(what.split(' '))
        .args(more)
        .arg("-q");
    if !what.contains('/') {
        command.args(["--cl-dir", "cl"]);
    }
    command.env(
        "GPULAB_DATA",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"),
    );
    let output = command.output().map_err(|e| e.to_string())?;
    Ok((
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

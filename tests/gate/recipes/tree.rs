//! A copy of this tree, in which recipes are followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tree, and where it is built.
pub struct Tree {
    root: PathBuf,
    target: PathBuf,
}

impl Tree {
    /// A fresh copy at the place of the last one, so that little is built again: what is the same is not written.
    pub fn copied() -> Result<Tree, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipes");
        let tree = Tree { root: folder.join("tree"), target: folder.join("target") };
        copy(Path::new(env!("CARGO_MANIFEST_DIR")), &tree.root)
            .map_err(|error| format!("cannot copy the tree: {error}"))?;
        Ok(tree)
    }

    pub fn read(&self, path: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    pub fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let path = self.root.join(path);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{path:?}: {e}"))
    }

    pub fn remove(&self, path: &str) -> Result<(), String> {
        fs::remove_file(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }

    /// Puts a text in the place of another one, wherever that stands.
    pub fn replace(&self, path: &str, from: &str, to: &str) -> Result<(), String> {
        let text = self.read(path)?;
        if !text.contains(from) {
            return Err(format!("{path} has no {from:?}"));
        }
        self.write(path, &text.replace(from, to))
    }

    /// The lines that begin so, without blanks around them.
    pub fn lines(&self, path: &str, begin: &str) -> Result<Vec<String>, String> {
        let text = self.read(path)?;
        Ok(text.lines().map(str::trim).filter(|line| line.starts_with(begin)).map(str::to_owned).collect())
    }

    /// The text of a function.
    pub fn function(&self, path: &str, name: &str) -> Result<String, String> {
        let text = self.read(path)?;
        let rest =
            text.find(&format!("\nfn {name}(")).map(|at| &text[at + 1..]).ok_or(format!("{path} has no {name}"))?;
        let end = rest.find("\n}").ok_or(format!("{name} has no end"))?;
        Ok(rest[..end + 2].to_owned())
    }

    /// The last field of the first declared row.
    pub fn last_field(&self, path: &str) -> Result<String, String> {
        let text = self.read(path)?;
        let row = text.find("pub struct Row").map(|at| &text[at..]).ok_or(format!("{path} declares no Row"))?;
        let row = row.find("\n    }").map(|end| &row[..end]).ok_or(format!("{path} declares no whole Row"))?;
        row.lines().last().map(|line| line.trim().to_owned()).ok_or(format!("{path}: no field"))
    }

    /// The files of a folder.
    pub fn files(&self, folder: &str) -> Result<Vec<String>, String> {
        let entries = fs::read_dir(self.root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
        Ok(entries.flatten().map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())).collect())
    }

    /// Builds the program; an error has what the compiler says.
    pub fn build(&self) -> Result<(), String> {
        self.cargo(&["build", "--quiet", "--bin", "gpulab"])
    }

    /// As the tests are built, so that a folder with what they need may be at hand, but nothing optimised.
    fn cargo(&self, args: &[&str]) -> Result<(), String> {
        let mut command = Command::new("cargo");
        command.args(args).args(["--locked", "--profile", "checked"]);
        for package in ["model", "kernels", "graph", "engine"] {
            command.args(["--config", &format!("profile.checked.package.gpulab-{package}.opt-level=0")]);
        }
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "1");
        let output = command.output().map_err(|error| format!("cargo: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(said) }
    }

    /// What the program says, on standard output and beside it, and how it ends. It must not fail, but for what it lacks here.
    pub fn gpulab(&self, args: &[&str]) -> Result<(String, i32), String> {
        let mut command = Command::new(self.target.join("checked/gpulab"));
        command.args(args).current_dir(&self.root).env("GPULAB_DATA", self.target.join("data")).env("NO_COLOR", "1");
        let output = command.output().map_err(|error| format!("gpulab: {error}"))?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        match output.status.code() {
            // A mistake in the command line; no simulator; times that cannot be trusted.
            Some(code @ (0 | 2 | 3 | 7)) => Ok((said, code)),
            code => Err(format!("gpulab {}: ended with {code:?}:\n{said}", args.join(" "))),
        }
    }
}

/// Copies what a build needs, and no folder that hides or is built.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(to)? {
        let path = entry?.path();
        let is_gone = path.file_name().is_none_or(|name| !from.join(name).exists());
        match path.is_dir() {
            true if is_gone => fs::remove_dir_all(path)?,
            false if is_gone => fs::remove_file(path)?,
            _ => {}
        }
    }
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let target = to.join(&name);
        let is_built = path.join("CACHEDIR.TAG").exists() || Path::new(env!("CARGO_TARGET_TMPDIR")).starts_with(&path);
        if name.to_string_lossy().starts_with('.') || is_built {
            continue;
        }
        if path.is_dir() {
            copy(&path, &target)?;
        } else if fs::read(&target).ok() != Some(fs::read(&path)?) {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// What a file is called without its folders and its ending.
pub fn stem(path: &str) -> Result<String, String> {
    let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.ok_or_else(|| format!("{path} is no file"))
}

/// That a text is on screen, however its blanks are.
pub fn demand(screen: &str, text: &str, of: &str) -> Result<(), String> {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat(screen).contains(&flat(text)) {
        true => Ok(()),
        false => Err(format!("{of}: {text:?} is missing in:\n{screen}")),
    }
}

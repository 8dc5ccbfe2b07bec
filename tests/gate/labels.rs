//! The labels gate: kernels whose faults are known are tried as a reader would try them. Each fault must be named, and right kernels
//! must raise no alarm.
//!
//! A kernel's first lines say what is wanted:
//! - `// says:` the phrases that gpulab must print, with semicolons between them, or `ok` for a right kernel;
//! - `// exit:` the exit code, if it is not 0; `// run:` more options;
//! - `//|` a line of the family's file, or `// family:` one of gpulab's families.
//!
//! The kernels of `tests/own/wrong` have `// hint:` in place of `says`; their exit code is 4, unless `exit` names another.

use super::child::{self, io};
use super::{Options, Report};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Fewer kernels are no gate.
const LEAST: usize = 60;

/// Each so many is tried in the quick gate.
const STEP: usize = 6;

/// The least share of faults that are named.
const SHARE: f64 = 0.95;

/// What is said of kernels with a fault alone.
const ALARMS: [&str; 11] = [
    "a shift by",
    "of local memory for a group",
    "hint:",
    "WRONG",
    "a race in",
    "is used here",
    "outside of",
    "outside the",
    "not all work-items",
    "waits for another",
    "is a double",
];

/// A kernel, and what must be said of it.
struct Labelled {
    path: PathBuf,
    text: String,
}

impl Labelled {
    fn line(&self, name: &str) -> Option<&str> {
        let mark = format!("// {name}: ");
        self.text.lines().find_map(|line| line.strip_prefix(&mark))
    }

    fn name(&self) -> String {
        let name = self.path.file_stem().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The phrases; none of a right kernel.
    fn wanted(&self) -> Vec<&str> {
        let says = self.line("says").or(self.line("hint")).unwrap_or("ok");
        says.split("; ").filter(|phrase| *phrase != "ok").collect()
    }

    fn exit(&self) -> i32 {
        let usual = if self.line("hint").is_some() { 4 } else { 0 };
        self.line("exit")
            .map_or(usual, |code| code.parse().unwrap_or(-1))
    }

    /// What gpulab says of it, on one line, and its exit code.
    fn tried(&self, folder: &Path) -> Result<(String, i32), String> {
        let keys: Vec<&str> = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("//| "))
            .collect();
        let options = [self.line("run"), self.line("options")];
        let options = options
            .into_iter()
            .flatten()
            .flat_map(str::split_whitespace);
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
        command
            .args(["try", "--quick", "-q", "--check"])
            .args(options)
            .env("GPULAB_DATA", folder);
        match self.line("family") {
            Some(family) if keys.is_empty() => {
                command
                    .args(["--variant", "1", "--as", family])
                    .arg(&self.path);
            }
            _ => {
                let name = self.name();
                let kernel = folder.join(format!("{name}.cl"));
                fs::write(&kernel, &self.text).map_err(io)?;
                let file = kernel.with_extension("toml");
                fs::write(
                    &file,
                    format!("kernel = \"{name}.cl\"\n{}\n", keys.join("\n")),
                )
                .map_err(io)?;
                command.arg(file);
            }
        }
        let output = command.output().map_err(io)?;
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok((flat, output.status.code().unwrap_or(-1)))
    }

    /// What is not as it is wanted.
    fn objection(&self, folder: &Path) -> Result<Option<String>, String> {
        let (told, code) = self.tried(folder)?;
        let wanted = self.wanted();
        let missing = wanted.iter().find(|phrase| !told.contains(**phrase));
        let alarm = ALARMS
            .iter()
            .find(|alarm| wanted.is_empty() && told.contains(**alarm));
        Ok(match (missing, alarm) {
            (Some(missing), _) => Some(format!("not named ({missing}): {told}")),
            (None, Some(alarm)) => Some(format!("a false alarm ({alarm}): {told}")),
            _ if code != self.exit() => Some(format!("exit {code}: {told}")),
            _ => None,
        })
    }
}

/// The kernels of a folder of `tests/`.
fn of_folder(name: &str) -> Result<Vec<Labelled>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name);
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|ending| ending == "cl") {
            let text = fs::read_to_string(&path).map_err(io)?;
            all.push(Labelled { path, text });
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

/// Runs the gate.
pub fn run(options: &Options) -> Result<Report, String> {
    let mut all = of_folder("labels")?;
    all.extend(of_folder("own/wrong")?);
    all.extend(of_folder("own/right")?);
    // One of these is included by others, and is no kernel.
    all.retain(|one| {
        one.line("says")
            .or(one.line("hint"))
            .or(one.line("family"))
            .is_some()
    });
    if let Some(only) = &options.only {
        all.retain(|one| one.name().contains(only));
    }
    let step = if options.quick { STEP } else { 1 };
    let chosen: Vec<&Labelled> = all.iter().step_by(step).collect();
    let objections = child::in_parallel(child::ALL_CORES, &chosen, |one| {
        let folder = TempDir::new().map_err(io)?;
        let objection = one.objection(folder.path())?;
        println!(
            "{}: {}",
            one.name(),
            objection.as_deref().unwrap_or("as labelled")
        );
        Ok::<_, String>(objection.is_some())
    })?;
    let objections = objections.into_iter().collect::<Result<Vec<bool>, _>>()?;
    let count = |is_right: bool, is_wrong: bool| {
        let both = chosen.iter().zip(&objections);
        both.filter(|(one, objected)| one.wanted().is_empty() == is_right && **objected == is_wrong)
            .count()
    };
    let (named, unnamed) = (count(false, false), count(false, true));
    let (silent, alarms) = (count(true, false), count(true, true));
    let is_enough = options.quick || options.only.is_some() || chosen.len() >= LEAST;
    Ok(Report {
        passed: is_enough
            && !chosen.is_empty()
            && alarms == 0
            && named as f64 >= SHARE * (named + unnamed) as f64,
        figure: format!(
            "{named} of {} faults named (at least 95 %), {alarms} false alarms over {} right kernels",
            named + unnamed,
            silent + alarms
        ),
    })
}

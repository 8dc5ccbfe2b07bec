//! Somebody else's program on its real driver, with a layer between it and OpenCL's loader that writes down what it does.

use crate::simulator::{compile_library, install, unwritable};
use gpulab_model::{Error, Result};
use gpulab_record::ProgramRow;
use gpulab_record::files::{self, ScratchFolder};
use gpulab_record::terminal::Stdout;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Instant;
use std::{env, fs};

const SOURCE: &str = include_str!("layer/layer.cpp");

/// Programs may bring another library of C++, so that it uses none.
const FLAGS: &str =
    "-fvisibility=hidden -fno-exceptions -fno-rtti -nodefaultlibs -lc -lgcc -ldl -lpthread";

/// What a program did, and how it ended.
pub struct SeenProgram {
    pub rows: Vec<ProgramRow>,
    /// Seconds from its start to its end.
    pub wall: f64,
    pub status: ExitStatus,
    /// Empty, or why the launch that was asked for was not kept.
    pub why: String,
}

/// What the file of a kept launch begins with.
pub const KEPT_MARK: &str = "# Kept: launch ";

/// Runs a command line with its own input and output, and says what it did. With `keep` it writes the launch of this number of the
/// kernel of this name as a family to this `.toml`, and what it needs beside it. The layer is built below `folder` unless it is
/// there.
pub fn watch(
    folder: &Path,
    words: &[OsString],
    keep: Option<(&str, u64, &Path)>,
) -> Result<SeenProgram> {
    let layer = prepare(folder)?;
    let scratch = ScratchFolder::new().map_err(Error::unwritten("a scratch folder"))?;
    let mut command = Command::new(&words[0]);
    // What drivers print in this process goes to standard error; what the program prints does not.
    command.args(&words[1..]).stdout(Stdout.for_child());
    command.env("GPULAB_LAYER", scratch.path());
    // The loader's own way, and that for loaders without layers; which of them it is only the library finds out.
    for variable in ["OPENCL_LAYERS", "LD_PRELOAD"] {
        let others = env::var_os(variable).filter(|others| !others.is_empty());
        let all = [Some(layer.clone().into_os_string()), others];
        let all: Vec<OsString> = all.into_iter().flatten().collect();
        command.env(variable, all.join(":".as_ref()));
    }
    if let Some((kernel, number, to)) = keep {
        let to = std::path::absolute(to.with_extension("")).map_err(Error::unwritten(to))?;
        command.env("GPULAB_KEEP", kernel).env("GPULAB_KEEP_TO", to);
        command.env("GPULAB_LAUNCH", number.to_string());
        // Binaries that PyOpenCL keeps have no text.
        command.env("PYOPENCL_NO_CACHE", "1");
    }
    let began = Instant::now();
    let name = words[0].display();
    let status = command.status();
    let status = status.map_err(|e| Error::Failed(format!("{name} cannot be started: {e}")))?;
    let wall = began.elapsed().as_secs_f64();
    let mut rows = Vec::new();
    for file in files::below_with(scratch.path(), &["jsonl"]) {
        let text = fs::read_to_string(file).unwrap_or_default();
        // A process that was killed leaves holes, and perhaps a line half written.
        let lines = text.lines().map(|line| line.trim_matches('\0'));
        rows.extend(lines.filter_map(|line| serde_json::from_str::<ProgramRow>(line).ok()));
    }
    rows.iter_mut()
        .for_each(|row| row.wall_share = row.t_total_s / wall);
    let why = fs::read_to_string(scratch.path().join("kept"));
    let why = why.unwrap_or_else(|_| "the program has no such launch".to_owned());
    Ok(SeenProgram {
        rows,
        wall,
        status,
        why,
    })
}

/// The layer, which is built if it is not there.
fn prepare(folder: &Path) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    SOURCE.hash(&mut hasher);
    let layer = folder.join(format!("layer/{:016x}.so", hasher.finish()));
    if layer.to_string_lossy().contains([' ', ':']) {
        return Err(Error::Failed(format!(
            "{}: programs load no layer from a folder with a blank or a colon in its path: GPULAB_DATA names another one",
            folder.display()
        )));
    }
    if !layer.is_file() {
        let flags: Vec<&str> = FLAGS.split(' ').collect();
        let made = install(&layer, |file| {
            compile_library(SOURCE, &flags, Some(file)).map(drop)
        });
        made.map_err(|why| {
            Error::Failed(format!(
                "gpulab time looks on by a layer, which is built once, and was not: {why}"
            ))
        })?;
    }
    layer.canonicalize().map_err(unwritable(&layer))
}

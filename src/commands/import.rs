//! `gpulab import`: a family's file of a script for another tuner.

use crate::adopt::own::{self, shown};
use crate::children::output_within;
use crate::cli::ImportArgs;
use crate::kernels::{TunerCall, draft_of_call};
use crate::prelude::*;
use std::process::Command;

/// What the script takes for Kernel Tuner.
const STAND_IN: &str = include_str!("../adopt/kernel_tuner.py");

/// Longest that a script may take up to there.
const LONGEST: Duration = Duration::from_secs(120);

/// Runs a script as python3 itself does, with the stand-in first among the modules.
const BEGIN: &str = "import runpy, sys; sys.path[0] = sys.argv[1]; del sys.argv[:2]; \
                     sys.path.insert(1, sys.argv[0].rpartition('/')[0]); runpy.run_path(sys.argv[0], run_name='__main__')";

/// Runs the script up to its first `tune_kernel`, and writes a family of what that was given, beside the script.
pub fn run(out: &mut Out, options: &ImportArgs) -> Result<(), Error> {
    let wrong = |why: String| Error::Usage(format!("{}: {why}", shown(&options.script)));
    let script = options.script.canonicalize().map_err(|error| wrong(error.to_string()))?;
    let (folder, family) = (script.parent().unwrap_or(Path::new("/")), options.script.with_extension("toml"));
    note(&format!("{} runs in your python3 with your rights, up to its first tune_kernel", shown(&options.script)));
    let call = called(&script, folder).map_err(wrong)?;
    // Many scripts read their kernel's file themselves.
    let is_its_text = |path: &Path| own::read(path).is_ok_and(|text| text.trim() == call.text.trim());
    let beside = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut beside = beside.filter(|path| path.extension().is_some_and(|ending| ending == "cl" || ending == "opencl"));
    let known = call
        .file
        .clone()
        .or_else(|| beside.find(|path| is_its_text(path))?.file_name().map(|name| name.to_string_lossy().into_owned()));
    let kernels = family.with_extension("cl");
    let own_name = kernels.file_name().unwrap_or_default().to_string_lossy();
    let text = draft_of_call(&call, known.as_deref().unwrap_or(&own_name)).map_err(wrong)?;
    let written = [Some((&family, &text)), known.is_none().then_some((&kernels, &call.text))];
    if let Some((path, _)) = written.iter().flatten().find(|(path, _)| path.exists() || path.is_symlink()) {
        return Err(Error::Usage(format!("{} exists already: move it away, or copy the script", shown(path))));
    }
    for (path, text) in written.into_iter().flatten() {
        files::write_whole(path, text).map_err(Error::unwritten(path))?;
        out.text(&format!("wrote {}\n", path.display()))?;
    }
    out.text(&format!("fill in each ?, then run it: gpulab ladder {}\n", family.display()))
}

/// What the script gave to the stand-in.
fn called(script: &Path, folder: &Path) -> Result<TunerCall, String> {
    let failed = |error: std::io::Error| error.to_string();
    let scratch = files::ScratchFolder::new().map_err(failed)?;
    let found = scratch.path().join("found.json");
    fs::write(scratch.path().join("kernel_tuner.py"), STAND_IN).map_err(failed)?;
    let mut command = Command::new("python3");
    command.args(["-B", "-c", BEGIN]).args([scratch.path(), script]).current_dir(folder).env("GPULAB_FOUND", &found);
    let ended = output_within(&mut command, "", LONGEST).map_err(|error| format!("python3: {error}"))?;
    let Ok(text) = fs::read_to_string(&found) else {
        let said = String::from_utf8_lossy(&ended.stderr);
        let last = said.trim().lines().next_back().unwrap_or("it calls neither tune_kernel nor run_kernel");
        return Err(format!("it gave no kernel to Kernel Tuner: {last}"));
    };
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

//! `gpulab time -- ./program`: what somebody else's program does with OpenCL, on its own device; and a launch of it, kept.

use crate::cli::{Global, HostProgram};
use crate::console::quoted;
use crate::device::code_name;
use crate::layer;
use crate::outputs::{Outputs, Paths};
use crate::record::ProgramRow;
use crate::report::format::Screen;
use crate::{Error, Result, ceilings, interrupt, report, usage_error};
use std::os::unix::process::ExitStatusExt;

/// The report goes to standard error, as standard output is the program's; so is the exit code.
pub fn run(global: &Global, options: &HostProgram, files: &Paths<'_>) -> Result<()> {
    if [files.csv, files.json].contains(&Some("-")) {
        return usage_error("standard output is the program's: name a file for the rows");
    }
    let mut outputs: Outputs<ProgramRow> = Outputs::open(files)?;
    interrupt::watch();
    let keep = options.keep.as_deref().zip(options.output.as_deref());
    let launch = keep.map(|(kernel, path)| (kernel, options.launch, path));
    let seen = layer::watch(&ceilings::folder()?, &options.program, launch)?;
    let text = report::program::text(&seen.rows, seen.wall, code_name, Screen::stderr());
    global.say(text.trim_end());
    seen.rows.iter().for_each(|row| outputs.row(row));
    outputs.finish(true, true)?;
    if let Some((kernel, path)) = keep {
        if !seen.why.is_empty() {
            return Err(Error::Failed(format!(
                "--keep {kernel}: not kept: {}",
                seen.why
            )));
        }
        let path = path.to_string_lossy();
        global.note(&format!(
            "kept the launch in {path}\nnext: gpulab try {}",
            quoted(&path)
        ));
    }
    let signal = seen.status.signal().map(|signal| 128 + signal);
    match seen
        .status
        .code()
        .or(signal)
        .and_then(|code| u8::try_from(code).ok())
    {
        Some(0) => Ok(()),
        code => Err(Error::Told(code.unwrap_or(1))),
    }
}

//! Kernels that somebody else's host program launches.

use super::gate::GateFiles;
use crate::adopt::asks;
use crate::cli::CountArgs;
use crate::count::{KeptCounts, LockstepModel};
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::simulator::{CountedProgram, Simulator};
use crate::{ceilings, report};

/// Runs the host program of `options` in the simulator, and shows, keeps or compares what its kernels did.
pub(crate) fn count_program(
    out: &mut Out,
    global: &Global,
    options: &CountArgs,
    model: LockstepModel,
) -> Result<(), Error> {
    let mut outputs: Outputs<CountRow> = Outputs::open(&Paths::default())?;
    let gate_files = GateFiles::open(options, &mut outputs)?;
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let limit = Duration::from_secs_f64(options.deadline);
    let counted = CountedProgram::run(&simulator, model, &options.program, limit, interrupt::interrupted)?;
    let program = options.program.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let program = program.to_string_lossy();
    let rows: Vec<CountRow> = counted
        .kernels
        .iter()
        .flat_map(|kernel| CountRow::of_kernel(&program, (&simulator.version, model), kernel))
        .collect();
    let lines_of = |file: &str| lines_of(&counted, file);
    let line_of = |file: &str, line: u64| lines_of(file).get(usize::try_from(line.checked_sub(1)?).ok()?).cloned();
    let line_of_text = |file: &str, line: u64| line_of(file, line).map(|text| text.trim().to_owned());
    let text = |screen| {
        let table = report::count::table(&rows, global.verbose, screen);
        if options.lines { table + &report::count::lines(&rows, &line_of, screen) } else { table }
    };
    let found = |screen| report::findings::text(&counted.findings, &line_of_text, screen);
    if !counted.findings.is_empty() {
        say(found(Screen::stderr()).trim_end());
    }
    if !gate_files.compares() {
        outputs.tell(out, &text, screen(global.color), global.quiet);
    }
    outputs.finish(true, true)?;
    let doubt = counted.sources.values().find_map(|text| asks(text));
    gate_files.finish(out, global.color, (&KeptCounts::of(&rows, &lines_of), true), doubt)
}

/// The lines of an OpenCL program. A file that it names is not read: any may be named.
fn lines_of(counted: &CountedProgram, file: &str) -> Vec<String> {
    counted.sources.get(file).map(|text| text.lines().map(str::to_owned).collect()).unwrap_or_default()
}

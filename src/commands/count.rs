//! `gpulab count`: what kernels do, counted in a simulator.

use crate::adopt::{asks, own};
use crate::cli::CountArgs;
use crate::counting::{
    Countable, Counting, GateFiles, check_ladder, check_trials, count_program, kept, open, source_line,
};
use crate::outputs::{Outputs, Paths};
use crate::prelude::*;
use crate::simulator::Simulator;
use crate::{ceilings, report};

pub fn run(out: &mut Out, global: &Global, options: &CountArgs) -> Result<(), Error> {
    if global.device_given().is_some() {
        let why = "--device: a simulator counts kernels, not a device; leave it out";
        return Err(Error::Usage(why.into()));
    }
    let model = options.model()?;
    if !options.program.is_empty() {
        return count_program(out, global, options, model);
    }
    let subject = Countable::find(options)?;
    let registry = &Registry::default();
    let registry = if let Countable::Ladder(brought, _) = &subject { &brought.registry } else { registry };
    match &subject {
        Countable::Ladder(brought, list) => check_ladder(brought, list.as_deref(), options, global.quiet)?,
        Countable::Trials(_) => check_trials(options)?,
        Countable::Measured(_) => {}
    }
    let mut outputs: Outputs<CountRow> = Outputs::open(&Paths::from(&options.rows))?;
    let gate_files = GateFiles::open(options, &mut outputs)?;
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let mut worker = open(
        registry,
        &simulator,
        model,
        options.kernels.cl_dir.as_deref(),
        Duration::from_secs_f64(options.deadline),
    )?;
    let cases = subject.cases(options, registry, worker.target(), global.quiet)?;
    let mut counting =
        Counting { lines: options.lines, quiet: global.quiet, simulator: &simulator.version, model, rows: Vec::new() };
    let counted = counting.run(&mut worker, &cases, &mut |row| outputs.row(row));
    let rows = counting.rows;
    let sources = Sources { dir: options.kernels.cl_dir.clone() };
    let rungs: Vec<&Rung> = cases.iter().map(|case| case.rung).collect();
    let source =
        |file: &str, line: u64| source_line(&sources, file, line).or_else(|| line_of_any(&rungs, file, line));
    let table = |rows: &[CountRow], screen| {
        let table = report::count::table(rows, global.verbose, screen);
        if options.lines { table + &report::count::lines(rows, &source, screen) } else { table }
    };
    let problem = |row: &CountRow| (row.family.clone(), row.n, row.dtype);
    let text = |screen| {
        rows.chunk_by(|a: &CountRow, b: &CountRow| options.of.is_empty() || problem(a) == problem(b))
            .map(|rows| table(rows, screen))
            .joined("\n")
    };
    if !rows.is_empty() && !gate_files.compares() {
        outputs.tell(out, &text, screen(global.color), global.quiet);
    }
    let finished = outputs.finish(counted.is_ok(), !rows.is_empty());
    let wrong = gone_wrong(&rows);
    worst_of([counted, wrong, finished])?;
    let whole = !matches!(subject, Countable::Ladder(_, Some(_)));
    let doubt = rungs.iter().find_map(|rung| rung.own_text().and_then(asks));
    gate_files.finish(out, global.color, (&kept(&rows, &sources, &rungs), whole), doubt)
}

/// The error that the worst case makes.
fn gone_wrong(rows: &[CountRow]) -> Result<(), Error> {
    let find = |status, how: &str| {
        let row = rows.iter().find(|row| row.status == status)?;
        Some(format!("{}/{} {how} in the simulator: {}", row.family, row.variant, row.reason))
    };
    if let Some(what) = find(Status::WrongResult, "gave a wrong result") {
        return Err(Error::WrongResult(what));
    }
    if let Some(what) = find(Status::BuildFailed, "did not build") {
        return Err(Error::BuildFailed(what));
    }
    let how = "did not finish";
    let failed = find(Status::Failed, how).or_else(|| find(Status::Timeout, how));
    failed.map_or(Ok(()), |what| Err(Error::Failed(what)))
}

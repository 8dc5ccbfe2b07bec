//! `gpulab tune --replay`: strategies over recorded rows.

use super::rows::write_kernel_tuner;
use crate::cli::TuneArgs;
use crate::prelude::*;
use crate::record::HOST;
use crate::record::groups::groups;
use crate::report::sweep::latest;
use crate::report::tune::{ReplayTold, replays, replays_markdown};
use crate::store::Recorded;
use crate::tune::{Replay, Strategy, replay};
use crate::{outputs, shown};

/// Seeds that each strategy with chance in it runs over.
const SEEDS: u64 = 101;

/// Prints for each problem in the files what the strategies need; a file for another tuner takes the rows of one problem.
pub(crate) fn run(out: &mut Out, global: &Global, options: &TuneArgs, export: Option<&str>) -> Result<(), Error> {
    let names: Vec<String> = options.replay.iter().map(|file| file.display().to_string()).collect();
    let md = options.md.as_deref();
    let is_on_stdout = [md, export].contains(&Some("-"));
    let strategies = match options.strategy {
        Strategy::Auto => vec![Strategy::Exhaustive, Strategy::Descent, Strategy::Random],
        one => vec![one],
    };
    let mut replayed = Vec::new();
    for name in &names {
        let problems = problems_of(name, global.quiet)?;
        if problems.is_empty() {
            return Err(Error::Usage(format!("{name} has no rows of a device: nothing to search")));
        }
        for rows in problems {
            let space =
                Replay::of(&rows.iter().collect::<Vec<_>>()).map_err(|why| Error::Usage(format!("{name}: {why}")))?;
            let lines = strategies.iter().map(|strategy| replay(&space, *strategy, SEEDS)).collect();
            let told = ReplayTold { title: title(&rows), lines, configurations: space.len(), flat: space.flat() };
            if !is_on_stdout {
                let gap = if replayed.is_empty() { "" } else { "\n" };
                out.text(&(gap.to_owned() + &replays(&told, screen(global.color))))?;
            }
            replayed.push((told, rows));
        }
    }
    if let Some(path) = md {
        let told: Vec<&ReplayTold> = replayed.iter().map(|(told, _)| told).collect();
        outputs::write_markdown(path, &replays_markdown(&told, SEEDS))?;
    }
    match (export, &replayed[..]) {
        (None, _) => Ok(()),
        (Some(path), [(_, rows)]) => {
            write_kernel_tuner(path, &rows.iter().map(|row| (row.clone(), None)).collect::<Vec<_>>())
        }
        (Some(_), _) => {
            Err(Error::Usage(format!("{} has several problems: --export takes the rows of one", names.join(", "))))
        }
    }
}

fn problems_of(name: &str, quiet: bool) -> Result<Vec<Vec<Row>>, Error> {
    let (Recorded::Rows(rows), torn) = shown::read(name)? else {
        return Err(Error::Usage(format!("{name} holds no rows: --replay takes what sweep and tune write as CSV")));
    };
    torn.iter().filter(|_| !quiet).for_each(|torn| say(torn));
    Ok(problems(&latest(&rows)))
}

/// The problem of these rows, and the rungs that they are of, where these are not the whole ladder.
fn title(rows: &[Row]) -> String {
    let row = &rows[0];
    let size = if row.m == 1 { String::new() } else { format!(" x {}", format::count(row.m)) };
    let ladder = built_in(&row.family).map_or(&[][..], |family| &family.ladder);
    let run: Vec<String> = ladder
        .iter()
        .filter(|rung: &&Rung| rows.iter().any(|row| row.variant == rung.variant()))
        .map(|rung| format!("v{}", rung.number().unwrap_or_default()))
        .collect();
    let rungs = if run.len() < ladder.len() { format!(", {}", run.join(" ")) } else { String::new() };
    let device = format::device(&row.device);
    format!("{}, {}, n = {}{size}{rungs}, on {device}", row.family, row.dtype, format::count(row.n))
}

/// The rows of each problem on each device, in the order of their configurations.
fn problems(rows: &[Row]) -> Vec<Vec<Row>> {
    let rows: Vec<Row> = rows.iter().filter(|row| row.platform != HOST).cloned().collect();
    let mut problems = groups(&rows, |row: &Row| {
        (row.device.clone(), row.driver.clone(), row.family.clone(), row.dtype, row.n, row.m)
    });
    problems.iter_mut().for_each(|own| own.sort_by_key(|row| row.case_index));
    problems
}

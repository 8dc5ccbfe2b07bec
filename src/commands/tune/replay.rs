//! `gpulab tune --replay`: strategies over recorded rows.

use super::super::{Out, say, screen};
use super::rows::write_kernel_tuner;
use crate::cli::{Global, TuneArgs};
use crate::record::{HOST, Row};
use crate::report::format;
use crate::report::sweep::latest;
use crate::report::tune::replays;
use crate::store::{Recorded, recorded};
use crate::tune::{Replay, Strategy, replay};
use crate::{Error, files};
use std::path::Path;

/// Seeds that each strategy with chance in it runs over.
const SEEDS: u64 = 101;

/// Prints for each problem in the file what the strategies need; a file for another tuner takes the rows of one problem.
///
/// # Errors
/// A file that cannot be read, or has no rows of a search.
pub(super) fn run(
    out: &mut Out,
    global: &Global,
    options: &TuneArgs,
    file: &Path,
    export: Option<&str>,
) -> Result<(), Error> {
    let name = file.display().to_string();
    let text = files::read(file).map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
    let (Recorded::Rows(rows), torn) = recorded(&text, &name)? else {
        return Err(Error::Usage(format!("{name} holds no rows: --replay takes what sweep and tune write as CSV")));
    };
    if let Some(torn) = torn.filter(|_| !global.quiet) {
        say(&torn);
    }
    let problems = problems(&latest(&rows));
    let strategies = match options.strategy {
        Strategy::Auto => vec![Strategy::Exhaustive, Strategy::Descent, Strategy::Random],
        one => vec![one],
    };
    for (at, rows) in problems.iter().enumerate() {
        let rows: Vec<&Row> = rows.iter().collect();
        let space = Replay::of(&rows).map_err(|why| Error::Usage(format!("{name}: {why}")))?;
        let lines: Vec<_> = strategies.iter().map(|strategy| replay(&space, *strategy, SEEDS)).collect();
        let gap = if at > 0 { "\n" } else { "" };
        let table = replays(&title(rows[0]), &lines, (space.len(), space.flat()), screen(global.color));
        out.text(&(gap.to_owned() + &table))?;
    }
    match (export, &problems[..]) {
        (None, [_, ..]) => Ok(()),
        (Some(path), [rows]) => {
            write_kernel_tuner(path, &rows.iter().map(|row| (row.clone(), None)).collect::<Vec<_>>())
        }
        (_, []) => Err(Error::Usage(format!("{name} has no rows of a device: nothing to search"))),
        (Some(_), _) => Err(Error::Usage(format!("{name} has several problems: --export takes the rows of one"))),
    }
}

fn title(row: &Row) -> String {
    let rows = if row.m == 1 { String::new() } else { format!(" x {}", format::count(row.m)) };
    format!("{}, {}, n = {}{rows}, on {}", row.family, row.dtype, format::count(row.n), format::device(&row.device))
}

/// The rows of each problem on each device, in the order of their configurations.
fn problems(rows: &[Row]) -> Vec<Vec<Row>> {
    let key = |row: &Row| (row.device.clone(), row.driver.clone(), row.family.clone(), row.dtype, row.n, row.m);
    let mut problems: Vec<Vec<Row>> = Vec::new();
    for row in rows.iter().filter(|row| row.platform != HOST) {
        match problems.iter_mut().find(|own| key(&own[0]) == key(row)) {
            Some(own) => own.push(row.clone()),
            None => problems.push(vec![row.clone()]),
        }
    }
    problems.iter_mut().for_each(|own| own.sort_by_key(|row| row.case_index));
    problems
}

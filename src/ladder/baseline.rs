//! Ladders' rows that are kept under a name, and held against later ones.

use crate::ceilings::folder;
use crate::cli::Output;
use crate::compare::{FEWEST, FileComparison, compare, timed};
use crate::prelude::*;
use crate::store::{Recorded, write_rows};
use crate::{report, shown};

/// The folder of the baselines: one folder for each name, with a file for each family.
pub(crate) const BASELINES: &str = "baselines";

/// What a ladder is held against, and what it is kept as.
pub(crate) struct Baselines {
    /// The name and the runs of `--against`.
    against: Option<(String, Vec<Row>)>,
    /// The name and the file of `--save`.
    save: Option<(String, PathBuf)>,
}

impl Baselines {
    /// Finds and reads them before anything is measured.
    pub(crate) fn open(family: &str, output: &Output, rounds: usize) -> Result<Baselines, Error> {
        let Output { save, against, fail_on, .. } = output;
        let file =
            |name: &str| Ok::<PathBuf, Error>(folder()?.join(BASELINES).join(name).join(format!("{family}.csv")));
        let against = against
            .as_ref()
            .map(|name: &String| Ok::<_, Error>((name.clone(), read(file(name)?, name, family)?)))
            .transpose()?;
        if let Some((name, rows)) = against.as_ref().filter(|_| !fail_on.is_empty()) {
            let has = timed(rows).iter().map(Vec::len).max().unwrap_or(0);
            if has.min(rounds) < FEWEST {
                return Err(Error::Usage(format!(
                    "--fail-on takes {FEWEST} rounds of each side: {name} has {has} (gpulab {family} --save {name} --rounds \
                     {FEWEST} keeps it anew), this run {rounds}"
                )));
            }
        }
        let save = save.as_ref().map(|name| Ok::<_, Error>((name.to_owned(), made(file(name)?)?))).transpose()?;
        Ok(Baselines { against, save })
    }

    /// The rows beside those of `--against`; nothing without it.
    pub(crate) fn beside(&self, rows: &[Row], verbose: bool, screen: Screen) -> String {
        let Some((comparison, (name, _))) = self.compared(rows).zip(self.against.as_ref()) else {
            return String::new();
        };
        format!("\n{}", report::compare::text(&comparison, [name, "this run"], report::compare::SAME, verbose, screen))
    }

    pub(crate) fn compared<'a>(&'a self, rows: &'a [Row]) -> Option<FileComparison<'a>> {
        self.against.as_ref().map(|(_, before)| compare(before, rows, report::compare::SAME))
    }

    /// Keeps the rows, in place of what was kept under the name, if the ladder got to its end.
    pub(crate) fn keep(&self, rows: &[Row], is_whole: bool, quiet: bool) -> Result<(), Error> {
        let Some((name, path)) = &self.save else { return Ok(()) };
        let told = match is_whole {
            true => {
                write_rows(&path.to_string_lossy(), rows)?;
                format!("kept as {name}: compare later runs with --against {name}")
            }
            false => format!("not kept as {name}: the ladder did not finish"),
        };
        if !quiet {
            note(&told);
        }
        Ok(())
    }
}

/// Makes the file's folder.
fn made(path: PathBuf) -> Result<PathBuf, Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::unwritten(folder))?;
    }
    Ok(path)
}

fn read(path: PathBuf, name: &str, family: &str) -> Result<Vec<Row>, Error> {
    if !path.exists() {
        let why = format!("no run of {family} is kept as {name}: keep one with --save {name}");
        return Err(Error::Usage(format!("{why}{}", kept_names(family)?)));
    }
    let place = path.display().to_string();
    match shown::read(&place)? {
        (Recorded::Rows(rows), _) => Ok(rows),
        _ => Err(Error::Usage(format!("{place} holds no rows: keep another run with --save {name}"))),
    }
}

/// `; there are base, new`.
fn kept_names(family: &str) -> Result<String, Error> {
    let Ok(entries) = fs::read_dir(folder()?.join(BASELINES)) else { return Ok(String::new()) };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().join(format!("{family}.csv")).exists());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(if names.is_empty() { String::new() } else { format!("; there are {}", names.join(", ")) })
}

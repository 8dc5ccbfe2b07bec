//! The rows of a search: in the user's file or in one of the folder for data, so that an interrupted search goes on.

use crate::cli::TuneArgs;
use crate::outcome::Spent;
use crate::outputs;
use crate::prelude::*;
use crate::report::sweep::latest;
use crate::store::{CsvFile, Deferred, JsonFile, Mode, read_rows};
use crate::sweep::{Configuration, Identity};
use crate::tune::{TUNED_FOLDER, TuningMemory, kernel_tuner};
use crate::workers::Parts;
use std::collections::BTreeSet;

/// The rows so far, and where they go.
pub(crate) struct TuningRows {
    rows: Vec<Row>,
    file: Option<CsvFile<Row>>,
    /// The file in the folder for data, which goes when the search is over.
    own: Option<PathBuf>,
}

impl TuningRows {
    /// Opens the file, and reads what an earlier run of the same search left in it.
    pub(crate) fn open(
        options: &TuneArgs,
        global: &Global,
        identity: &Identity,
        plan: &[Configuration],
        info: &DeviceInfo,
    ) -> Result<TuningRows, Error> {
        let found = match options.rows.csv.as_deref() {
            Some("-") => {
                let file = Some(CsvFile::open("-", Mode::Create)?);
                return Ok(TuningRows { rows: Vec::new(), file, own: None });
            }
            Some(path) => TuningRows { own: None, ..TuningRows::of_file(path, identity, plan, global.force)? },
            None => TuningRows::in_folder(identity, plan, info),
        };
        if !found.rows.is_empty() && !global.quiet {
            say(&format!("continuing: {} configurations are measured already", latest(&found.rows).len()));
        }
        Ok(found)
    }

    /// Errors: a file with something else in it, or one that cannot be written.
    fn of_file(path: &str, identity: &Identity, plan: &[Configuration], is_forced: bool) -> Result<TuningRows, Error> {
        let at = Path::new(path);
        let is_begun = std::fs::metadata(at).is_ok_and(|m| m.is_file() && m.len() > 0);
        if !is_begun || is_forced {
            return Ok(TuningRows { rows: Vec::new(), file: Some(CsvFile::open(path, Mode::Create)?), own: None });
        }
        let file = CsvFile::open(path, Mode::Append)?;
        let rows = read_rows(at)?.rows;
        identity
            .finished(plan, &latest(&rows))
            .map_err(|why| Error::Usage(format!("cannot continue {path}: {why}; give another file or remove it")))?;
        Ok(TuningRows { rows, file: Some(file), own: None })
    }

    /// The file in the folder for data. Without one (there is no folder, or another run has it) an interrupt loses the rows,
    /// and no more.
    fn in_folder(identity: &Identity, plan: &[Configuration], info: &DeviceInfo) -> TuningRows {
        let none = TuningRows { rows: Vec::new(), file: None, own: None };
        let Ok(memory) = TuningMemory::open() else { return none };
        let DeviceInfo { platform, name, driver, .. } = info;
        let name = files::name_of(&[platform, name, driver, &identity.sweep_id]);
        let path = memory.folder().join(TUNED_FOLDER).join(name + ".csv");
        if path.parent().is_none_or(|folder| std::fs::create_dir_all(folder).is_err()) {
            return none;
        }
        let text = path.display().to_string();
        let opened = TuningRows::of_file(&text, identity, plan, false).or_else(|error| match read_rows(&path) {
            // Damaged, or of another version.
            Err(_) if path.exists() => {
                note(&format!("{error}; {}", files::put_aside(&path)));
                TuningRows::of_file(&text, identity, plan, false)
            }
            _ => Err(error),
        });
        opened.map_or(none, |found| TuningRows { own: Some(path), ..found })
    }

    /// Takes the rows of all parts of this search that are there. The places in the plan of each part's configurations.
    pub(crate) fn take_parts(
        &mut self,
        parts: &Parts,
        identity: &Identity,
        plan: &[Configuration],
    ) -> Result<Vec<BTreeSet<u64>>, Error> {
        let mut found = Vec::new();
        for (shard, file) in parts.files() {
            let rows = latest(&read_rows(&file)?.rows).into_owned();
            found.push(
                identity
                    .of_shard(shard)
                    .finished(plan, &rows)
                    .map_err(|why| Error::Usage(format!("{}: {why}", file.display())))?,
            );
            for row in rows {
                if row.case_index.is_some_and(|index| self.of(index).is_none()) {
                    self.add(Row { shard: String::new(), ..row })?;
                }
            }
        }
        Ok(found)
    }

    pub(crate) fn add(&mut self, row: Row) -> Result<(), Error> {
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write(&row));
        self.rows.push(row);
        // What cannot be kept in the folder for data is no reason not to go on.
        if self.own.is_some() && written.is_err() {
            self.file = None;
            return Ok(());
        }
        written
    }

    /// All rows, in the order in which they came.
    pub(crate) fn all(&self) -> &[Row] {
        &self.rows
    }

    /// The last row of each configuration.
    pub(crate) fn latest(&self) -> Vec<Row> {
        latest(&self.rows).into_owned()
    }

    pub(crate) fn len(&self) -> usize {
        self.latest().len()
    }

    /// The last row of a configuration.
    pub(crate) fn of(&self, index: u64) -> Option<&Row> {
        self.rows.iter().rev().find(|row| row.case_index == Some(index))
    }

    /// How an interrupted search goes on.
    pub(crate) fn how_to_go_on(&self) -> String {
        let measured = self.len();
        match self.file {
            Some(_) => format!("{measured} configurations were measured: the same command continues"),
            None => format!("{measured} configurations were measured; their rows were written to no file"),
        }
    }

    /// Completes the file; that in the folder for data is of no further use after a whole search.
    pub(crate) fn finish(&mut self, is_whole: bool) -> Result<(), Error> {
        let finished = self.file.take().filter(|_| is_whole).map_or(Ok(()), CsvFile::finish);
        if let (true, Some(path)) = (is_whole, &self.own) {
            drop(std::fs::remove_file(path));
        }
        finished
    }
}

/// Finds files that cannot be written before anything is measured for them; none is changed.
pub(crate) fn check_writable(
    csv: Option<&str>,
    json: Option<&str>,
    export: Option<&str>,
    is_forced: bool,
) -> Result<(), Error> {
    let mode = if is_forced { Mode::Create } else { Mode::Append };
    csv.map_or(Ok(()), |path| CsvFile::<Row>::open(path, mode).map(drop))?;
    json.map_or(Ok(()), |path| JsonFile::create(path).map(drop))?;
    export.map_or(Ok(()), |path| Deferred::open(path).map(drop))
}

pub(crate) fn write_json(path: &str, rows: &[Row]) -> Result<(), Error> {
    let mut file = JsonFile::create(path)?;
    rows.iter().try_for_each(|row| file.write(row))?;
    file.finish()
}

pub(crate) fn write_kernel_tuner(path: &str, rows: &[(Row, Option<Spent>)]) -> Result<(), Error> {
    outputs::write(path, kernel_tuner::cache(rows) + "\n")
}

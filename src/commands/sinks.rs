//! Where a run's results go: files opened before anything runs, and the table.

use super::{Out, say};
use crate::Error;
use crate::cli::Output;
use crate::record::{Record, Row, SampleRow};
use crate::report::{Unit, ladder, markdown};
use crate::store::{CsvFile, JsonFile, Mode};

/// The outputs that were asked for.
pub(super) struct Sinks {
    csv: Option<CsvFile>,
    json: Option<JsonFile>,
    samples: Option<CsvFile>,
    md: Option<String>,
    unit: Unit,
    /// Whether one of them takes standard output, so that the table goes to standard error.
    taken: bool,
}

impl Sinks {
    /// Opens every file, so that one that cannot be written is found before the first kernel runs.
    pub(super) fn open(options: &Output) -> Result<Sinks, Error> {
        let all = [&options.csv, &options.json, &options.samples, &options.md];
        let to_stdout = all.iter().filter(|path| path.as_deref() == Some("-")).count();
        if to_stdout > 1 {
            return Err(Error::Usage("only one of --csv, --json, --samples and --md can be -".into()));
        }
        super::check_writable(options.md.as_deref())?;
        Ok(Sinks {
            csv: options.csv.as_deref().map(|path| CsvFile::rows(path, Mode::Create)).transpose()?,
            json: options.json.as_deref().map(JsonFile::create).transpose()?,
            samples: options.samples.as_deref().map(|path| CsvFile::samples(path, Mode::Create)).transpose()?,
            md: options.md.clone(),
            unit: if options.gib { Unit::GiB } else { Unit::GB },
            taken: to_stdout > 0,
        })
    }

    /// Writes a finished case to the files that grow with each.
    pub(super) fn write(&mut self, record: &Record) -> Result<(), Error> {
        let row = Row::from(record);
        if let Some(csv) = &mut self.csv {
            csv.write(&row)?;
        }
        if let Some(json) = &mut self.json {
            json.write(&row)?;
        }
        match &mut self.samples {
            Some(samples) => samples.write_samples(SampleRow::of(record)),
            None => Ok(()),
        }
    }

    /// Completes the files and prints the table.
    pub(super) fn finish(&mut self, out: &mut Out, rows: &[Row], color: bool, quiet: bool) -> Result<(), Error> {
        let json = self.json.take().map_or(Ok(()), JsonFile::finish);
        let md = self.md.take().map_or(Ok(()), |path| super::write_to(out, &path, &markdown::ladder(rows, self.unit)));
        let table = if !self.taken {
            out.text(&ladder::table(rows, self.unit, color))
        } else {
            if !quiet {
                say(&ladder::table(rows, self.unit, false));
            }
            Ok(())
        };
        json.and(md).and(table)
    }
}

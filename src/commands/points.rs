//! Where experiments' points go: files opened before anything runs, and the reports.

use super::Out;
use crate::Error;
use crate::record::Point;
use crate::store::{CsvFile, JsonFile, Mode};

/// The outputs that were asked for.
pub(super) struct Points {
    csv: Option<CsvFile>,
    json: Option<JsonFile>,
    svg: Option<String>,
    /// Whether one of them takes standard output, so that reports go to standard error.
    taken: bool,
}

impl Points {
    /// Opens every file, so that one that cannot be written is found before the first kernel runs.
    pub(super) fn open(csv: Option<&str>, json: Option<&str>, svg: Option<&str>) -> Result<Points, Error> {
        let to_stdout = [csv, json, svg].iter().filter(|path| **path == Some("-")).count();
        if to_stdout > 1 {
            return Err(Error::Usage("only one of --csv, --json and --svg can be -".into()));
        }
        super::check_writable(svg)?;
        Ok(Points {
            csv: csv.map(|path| CsvFile::points(path, Mode::Create)).transpose()?,
            json: json.map(JsonFile::create).transpose()?,
            svg: svg.map(str::to_owned),
            taken: to_stdout > 0,
        })
    }

    /// Writes a finished point to each file.
    pub(super) fn write(&mut self, point: &Point) -> Result<(), Error> {
        if let Some(csv) = &mut self.csv {
            csv.write_point(point)?;
        }
        self.json.as_mut().map_or(Ok(()), |json| json.write(point))
    }

    /// Prints a report.
    pub(super) fn tell(&self, out: &mut Out, text: &str, quiet: bool) -> Result<(), Error> {
        super::tell(out, text, self.taken, quiet)
    }

    /// Writes the drawing, if it was asked for.
    pub(super) fn draw(&self, out: &mut Out, svg: &str) -> Result<(), Error> {
        self.svg.as_ref().map_or(Ok(()), |path| super::write_to(out, path, svg))
    }

    /// Completes the files.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.json.take().map_or(Ok(()), JsonFile::finish)
    }
}

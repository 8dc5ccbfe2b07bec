//! Where results go: files opened before anything runs, and the table or report.
//!
//! An output that fails is given up and its error kept for the end; the others still get their data.

use crate::cli::{Global, Output, RowFiles};
use crate::console::{check_stdout, print, screen, worst_of};
use crate::record::{CsvRecord, SampleRow};
use crate::report::format::Screen;
use crate::report::markdown::MARKDOWN_MARK;
use crate::report::verdict::Verdict;
use crate::store::{CsvFile, JsonFile, Sink};
use crate::terminal::say;
use crate::{Error, Result};
use serde::Serialize;

/// The paths that were asked for; `-` is standard output.
#[derive(Clone, Copy, Default)]
pub struct Paths<'a> {
    pub csv: Option<&'a str>,
    pub json: Option<&'a str>,
    pub samples: Option<&'a str>,
    pub md: Option<&'a str>,
}

impl Paths<'_> {
    /// Whether one of them takes standard output, so that all else goes to standard error.
    pub fn take_stdout(&self) -> bool {
        [self.csv, self.json, self.samples, self.md].contains(&Some("-"))
    }
}

impl<'a> From<&'a RowFiles> for Paths<'a> {
    fn from(rows: &'a RowFiles) -> Paths<'a> {
        Paths {
            csv: rows.csv.as_deref(),
            json: rows.json.as_deref(),
            ..Paths::default()
        }
    }
}

impl<'a> From<&'a Output> for Paths<'a> {
    fn from(output: &'a Output) -> Paths<'a> {
        let [csv, json, md, samples] =
            [&output.csv, &output.json, &output.md, &output.samples].map(Option::as_deref);
        Paths {
            csv,
            json,
            md,
            samples,
        }
    }
}

pub struct Outputs<T> {
    csv: Option<CsvFile<T>>,
    json: Option<JsonFile>,
    samples: Option<CsvFile<SampleRow>>,
    md: Option<Sink>,
    /// What the Markdown's file begins with.
    md_mark: &'static str,
    /// Whether one of them, or somebody else's file, takes standard output, so that the table goes to standard error.
    pub taken: bool,
    /// Why outputs were given up.
    failed: Vec<Error>,
}

impl<T: CsvRecord> Outputs<T> {
    /// Opens every file, so that one that cannot be written is found before the first kernel runs. None is changed yet.
    pub fn open(paths: &Paths<'_>) -> Result<Outputs<T>> {
        let Paths {
            csv,
            json,
            samples,
            md,
        } = *paths;
        let taken = paths.take_stdout();
        if !taken {
            check_stdout()?;
        }
        Ok(Outputs {
            csv: csv.map(CsvFile::create).transpose()?,
            json: json.map(JsonFile::create).transpose()?,
            samples: samples.map(CsvFile::create).transpose()?,
            md: md.map(Sink::open).transpose()?,
            md_mark: if md == Some("-") { "" } else { MARKDOWN_MARK },
            taken,
            failed: Vec::new(),
        })
    }

    /// Whether rows are written as they are measured.
    pub fn has_rows(&self) -> bool {
        self.csv.is_some() || self.json.is_some() || self.samples.is_some()
    }

    /// Writes a line to the CSV file, and an element of the JSON array.
    pub fn row(&mut self, row: &T) {
        self.csv_only(row);
        self.json_only(row);
    }

    /// Adds a line to the CSV file that is no element of the JSON array.
    pub fn csv_only(&mut self, row: &T) {
        attempt(&mut self.csv, &mut self.failed, |csv| csv.write(row));
    }

    /// Adds an element to the JSON array that is no line of the CSV file.
    pub fn json_only(&mut self, element: &impl Serialize) {
        attempt(&mut self.json, &mut self.failed, |json| json.write(element));
    }

    pub fn samples(&mut self, mut samples: impl Iterator<Item = SampleRow>) {
        attempt(&mut self.samples, &mut self.failed, |file| {
            samples.try_for_each(|sample| file.write(&sample))
        });
    }

    pub fn md(&mut self, text: &str) {
        attempt(&mut self.md, &mut self.failed, |file| {
            replace(file, format!("{}{text}", self.md_mark))
        });
    }

    /// Prints a table or report, made for a screen: standard output's, or, where that is taken by a file, standard error's
    /// unless `--quiet` is given.
    pub fn tell(&mut self, global: &Global, text: &dyn Fn(Screen) -> String) {
        if self.taken {
            global.say(text(Screen::stderr()).trim_end());
        } else {
            self.failed.extend(print(&text(screen(global.color))).err());
        }
    }

    /// Keeps an error for the end.
    pub fn note(&mut self, done: Result<()>) {
        self.failed.extend(done.err());
    }

    /// Completes the files, without rows only if the run got to its end: before the first row, files stay as they were.
    pub fn finish(&mut self, is_whole: bool, has_rows: bool) -> Result<()> {
        let failed = &mut self.failed;
        if is_whole || has_rows {
            failed.extend(self.csv.take().and_then(|csv| csv.finish().err()));
            failed.extend(
                self.samples
                    .take()
                    .and_then(|samples| samples.finish().err()),
            );
            failed.extend(self.json.take().and_then(|json| json.finish().err()));
        }
        worst_of(failed.drain(..).map(Err))
    }
}

/// Writes a whole file; `-` is standard output.
pub fn write(path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
    replace(&mut Sink::open(path)?, bytes)
}

/// Writes a whole file that was asked for, and says so unless it is standard output.
pub fn write_told(global: &Global, path: &str, bytes: impl AsRef<[u8]>, what: &str) -> Result<()> {
    write(path, bytes)?;
    if path != "-" {
        global.note(&format!("wrote {path}{what}"));
    }
    Ok(())
}

/// Writes the whole of an open file.
pub fn replace(file: &mut Sink, bytes: impl AsRef<[u8]>) -> Result<()> {
    file.replace(|out| out.write_all(bytes.as_ref()).and_then(|()| out.flush()))
}

/// A value as JSON, with the end of its last line.
pub fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::Failed(format!("cannot write JSON: {e}")))?;
    Ok(text + "\n")
}

/// A text for people, beside it the same as JSON in a file, or JSON alone on standard output for `-`.
pub struct TextOrJson {
    is_json: bool,
    file: Option<Sink>,
}

impl TextOrJson {
    /// Finds a file that cannot be written; it stays as it is until there is an answer.
    pub fn open(json: Option<&str>) -> Result<TextOrJson> {
        let file = json
            .filter(|path| *path != "-")
            .map(Sink::open)
            .transpose()?;
        Ok(TextOrJson {
            is_json: json == Some("-"),
            file,
        })
    }

    /// Tells a verdict, with the exit code of its word: where JSON takes standard output, people read on standard error.
    pub fn conclude(self, mut verdict: Verdict, text: String) -> Result<()> {
        verdict.exit_code = verdict.verdict.exit_code();
        if self.is_json {
            say(text.trim_end());
        }
        self.tell(&verdict, || text)?;
        verdict.end()
    }

    pub fn tell(self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        if let Some(mut file) = self.file {
            replace(&mut file, json(value)?)?;
        }
        print(&if self.is_json { json(value)? } else { text() })
    }
}

/// Writes to an output that there is and that has not failed before.
fn attempt<T>(
    slot: &mut Option<T>,
    failed: &mut Vec<Error>,
    write: impl FnOnce(&mut T) -> Result<()>,
) {
    if let Some(error) = slot.as_mut().and_then(|output| write(output).err()) {
        failed.push(error);
        *slot = None;
    }
}

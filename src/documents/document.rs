//! A Markdown document: its text, its blocks and its figures.

use crate::prelude::*;
use crate::report::blocks::{BlockError, DocBlock, doc_blocks, spliced};
use crate::report::figures::{self, Figure, FigureTable};
use std::ops::Range;
use std::path::Component;

/// A Markdown file with its blocks and its figures.
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) blocks: Vec<DocBlock>,
    pub(crate) figures: Vec<Figure>,
}

/// The file of a figure's mark: a CSV below `data/` of the folder of the command.
fn figure_table(file: &str) -> Result<FigureTable, String> {
    let path = Path::new(file);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("{file}: a figure's file lies below data/, as in results/nvidia-h200/dot"));
    }
    let path = Path::new("data").join(format!("{file}.csv"));
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = files::read(&path).map_err(|error| failed(&error))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&text[..]);
    let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<String>>();
    let header = reader.headers().map(cells).map_err(|error| failed(&error))?;
    let rows = reader.records().map(|record| record.map(|record| cells(&record)));
    Ok(FigureTable { header, rows: rows.collect::<Result<_, _>>().map_err(|error| failed(&error))? })
}

impl Document {
    pub(crate) fn read(path: &str) -> Result<Document, Error> {
        let text = files::read_to_string(Path::new(path));
        let text = text.map_err(|e| Error::Failed(format!("cannot read {}: {e}", format::terminal(path))))?;
        let wrong = |BlockError { line, why }| Error::Usage(format!("{}:{line}: {why}", format::terminal(path)));
        let blocks = doc_blocks(&text).map_err(wrong)?;
        let figures = figures::figures(&text, &blocks).map_err(wrong)?;
        Ok(Document { path: path.to_owned(), text, blocks, figures })
    }

    /// The new text of each of its figures. `tables` keeps the files that were read.
    pub(crate) fn numbers(&self, tables: &mut BTreeMap<String, FigureTable>) -> Result<Vec<String>, Error> {
        let mut read = |file: &str| match tables.get(file) {
            Some(table) => Ok(table.clone()),
            None => figure_table(file).inspect(|table| drop(tables.insert(file.to_owned(), table.clone()))),
        };
        let numbers = self.figures.iter().map(|figure| {
            let filled = figures::filled(&figure.mark, &self.text[figure.number.clone()], &mut read);
            let place = format!("{}:{}", format::terminal(&self.path), figure.line);
            filled.map_err(|why| Error::Usage(format!("{place}: {}: {why}", format::terminal(&figure.mark))))
        });
        numbers.collect()
    }

    pub(crate) fn stale_figures(&self, numbers: &[String]) -> Vec<String> {
        let pairs =
            self.figures.iter().zip(numbers).map(|(figure, new)| (figure, &self.text[figure.number.clone()], new));
        let stale = pairs.filter(|(_, old, new)| old != new).map(|(Figure { line, mark, .. }, old, new)| {
            let path = format::terminal(&self.path);
            let mark = format::terminal(mark);
            format!("{path}:{line}: {mark}: the figure is {old}, and should be {new}")
        });
        stale.collect()
    }

    /// The document with its blocks' and figures' new texts, which must leave its marks as they are.
    pub(crate) fn renewed(&self, bodies: Vec<(Range<usize>, String)>, numbers: &[String]) -> Result<String, Error> {
        let places = self.figures.iter().map(|figure| figure.number.clone());
        let mut edits: Vec<(Range<usize>, String)> =
            bodies.into_iter().chain(places.zip(numbers.iter().cloned())).collect();
        edits.sort_by_key(|(place, _)| place.start);
        let text = spliced(&self.text, &edits);
        let commands = |blocks: &[DocBlock]| blocks.iter().map(|block| block.command.clone()).collect::<Vec<_>>();
        match doc_blocks(&text) {
            Ok(again) if commands(&again) == commands(&self.blocks) => Ok(text),
            _ => Err(Error::Usage(format!("{}: the command's output itself has marks of blocks", self.path))),
        }
    }

    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        if text == self.text {
            return Ok(());
        }
        // The file itself, where a link names it, and with its permissions.
        let write = || {
            let path = fs::canonicalize(&self.path)?;
            let permissions = fs::metadata(&path)?.permissions();
            files::write_whole(&path, text)?;
            fs::set_permissions(&path, permissions)
        };
        write().map_err(Error::unwritten(&self.path))
    }
}

//! `gpulab report --splice`: blocks of Markdown documents filled with what their commands print, and figures in their prose
//! with what recorded cells come to.
//!
//! A text comes from this program itself, run once more; a picture is drawn here. Commands that could start anything else are
//! refused, this one among them, so that no document runs kernels or begins anew.

use crate::cli::{Cli, Color, Command, Global, PlotArgs, ReportArgs};
use crate::commands::{named, plot};
use crate::console::Out;
use crate::report::blocks::{BlockError, DocBlock, command_words, doc_blocks, fenced, spliced};
use crate::report::figures::{self, Figure, FigureTable};
use crate::report::format::{self, counted, markdown};
use crate::report::markdown::CODE_WIDTH;
use crate::store::{self, OutputFile};
use crate::{Error, files, words};
use clap::Parser;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::process;

/// Fills the blocks and the figures of the documents, or with `--check` says which are stale.
///
/// # Errors
/// [`Error::Failed`] for a document that cannot be read, for a command that fails, and with `--check` for stale blocks;
/// [`Error::Usage`] for bad marks, and for commands that have no place in a document; [`Error::Output`] for a file that cannot
/// be written. Before the last of its blocks gave its text, nothing is written.
pub fn run(out: &mut Out, global: &Global, options: &ReportArgs) -> Result<(), Error> {
    if !options.splicing.splice {
        return Err(Error::Usage("gpulab report renews documents: give --splice before their names".into()));
    }
    let documents = options.files.iter().map(|path| Document::read(path)).collect::<Result<Vec<_>, Error>>()?;
    let blocks: Vec<Planned> = planned(&documents)?;
    check_outputs(&options.files, &blocks, global.force || options.splicing.check)?;
    let filled = blocks.iter().map(Planned::fill).collect::<Result<Vec<Filled>, Error>>()?;
    let mut tables = BTreeMap::new();
    let numbers = documents.iter().map(|one| one.numbers(&mut tables)).collect::<Result<Vec<Vec<String>>, Error>>()?;
    let renewed = documents.iter().zip(&numbers).map(|(document, numbers)| document.renewed(&filled, numbers));
    let renewed = renewed.collect::<Result<Vec<String>, Error>>()?;
    let stale_figures = documents.iter().zip(&numbers).flat_map(|(document, numbers)| document.stale_figures(numbers));
    let stale: Vec<String> = filled.iter().filter_map(Filled::stale).chain(stale_figures).collect();
    let found = match (blocks.len(), numbers.iter().map(Vec::len).sum()) {
        (blocks, 0) => counted(blocks, "block"),
        (0, figures) => counted(figures, "figure"),
        (blocks, figures) => format!("{} and {}", counted(blocks, "block"), counted(figures, "figure")),
    };
    let summary = format!("{found} in {}", counted(documents.len(), "file"));
    if options.splicing.check {
        out.text(&stale.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        return match stale.is_empty() {
            true => out.text(&format!("{summary}: all are up to date\n")),
            false => {
                let how = "gpulab report --splice with the same files renews them";
                let are = if stale.len() == 1 { "is" } else { "are" };
                Err(Error::Failed(format!("{} of {found} {are} stale: {how}", stale.len())))
            }
        };
    }
    filled.iter().try_for_each(Filled::write_picture)?;
    documents.iter().zip(&renewed).try_for_each(|(document, text)| document.write(text))?;
    out.text(&format!("{summary}: {} renewed\n", stale.len()))
}

/// A Markdown file with its blocks and its figures.
struct Document {
    path: String,
    text: String,
    blocks: Vec<DocBlock>,
    figures: Vec<Figure>,
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
    fn read(path: &str) -> Result<Document, Error> {
        let text = files::read_to_string(Path::new(path));
        let text = text.map_err(|e| Error::Failed(format!("cannot read {}: {e}", format::terminal(path))))?;
        let wrong = |BlockError { line, why }| Error::Usage(format!("{}:{line}: {why}", format::terminal(path)));
        let blocks = doc_blocks(&text).map_err(wrong)?;
        let figures = figures::figures(&text, &blocks).map_err(wrong)?;
        Ok(Document { path: path.to_owned(), text, blocks, figures })
    }

    /// The new text of each of its figures. `tables` keeps the files that were read.
    fn numbers(&self, tables: &mut BTreeMap<String, FigureTable>) -> Result<Vec<String>, Error> {
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

    /// Which of its figures are not these.
    fn stale_figures(&self, numbers: &[String]) -> Vec<String> {
        let pairs =
            self.figures.iter().zip(numbers).map(|(figure, new)| (figure, &self.text[figure.number.clone()], new));
        let stale = pairs.filter(|(_, old, new)| old != new).map(|(Figure { line, mark, .. }, old, new)| {
            let (path, mark) = (format::terminal(&self.path), format::terminal(mark));
            format!("{path}:{line}: {mark}: the figure is {old}, and should be {new}")
        });
        stale.collect()
    }

    /// The document with its blocks' and figures' new texts, which must leave its marks as they are.
    fn renewed(&self, filled: &[Filled<'_>], numbers: &[String]) -> Result<String, Error> {
        let own = filled.iter().filter(|one| std::ptr::eq(one.planned.document, self));
        let bodies = own.map(|one| (one.planned.block.body.clone(), one.body.clone()));
        let places = self.figures.iter().map(|figure| figure.number.clone());
        let mut edits: Vec<(Range<usize>, String)> = bodies.chain(places.zip(numbers.iter().cloned())).collect();
        edits.sort_by_key(|(place, _)| place.start);
        let text = spliced(&self.text, &edits);
        let commands = |blocks: &[DocBlock]| blocks.iter().map(|block| block.command.clone()).collect::<Vec<_>>();
        match doc_blocks(&text) {
            Ok(again) if commands(&again) == commands(&self.blocks) => Ok(text),
            _ => Err(Error::Usage(format!("{}: the command's output itself has marks of blocks", self.path))),
        }
    }

    fn write(&self, text: &str) -> Result<(), Error> {
        if text == self.text {
            return Ok(());
        }
        let unwritten = |source| Error::Output { what: self.path.clone(), source };
        // The file itself, where a link names it, and with its permissions.
        let write = || {
            let path = fs::canonicalize(&self.path)?;
            let permissions = fs::metadata(&path)?.permissions();
            files::write_whole(&path, text)?;
            fs::set_permissions(&path, permissions)
        };
        write().map_err(unwritten)
    }
}

/// A block, and how it is filled.
struct Planned<'a> {
    document: &'a Document,
    block: &'a DocBlock,
    content: BlockContent,
}

/// What a block's command gives.
enum BlockContent {
    /// Code: the words behind `gpulab`.
    Text(Vec<String>),
    /// Markdown: the same.
    Markdown(Vec<String>),
    Picture(Box<PlotArgs>),
}

/// All blocks of the documents.
fn planned(documents: &[Document]) -> Result<Vec<Planned<'_>>, Error> {
    let all = documents.iter().flat_map(|document| document.blocks.iter().map(move |block| (document, block)));
    all.map(|(document, block)| Planned::new(document, block)).collect()
}

/// `README.md:12`.
fn place(document: &Document, block: &DocBlock) -> String {
    format!("{}:{}", format::terminal(&document.path), block.line)
}

/// Reads a block's command.
///
/// Errors: why it has no place in a document.
fn content(command: &str) -> Result<BlockContent, String> {
    let words = command_words(command)?;
    let cli = Cli::try_parse_from(&words).map_err(|error| misread(&error))?;
    if cli.global.color != Color::Auto || cli.global.device_given().is_some() {
        return Err("a document has no colours and no device: leave --color and --device out".to_owned());
    }
    let Some(command) = cli.command else { return Err(allowed("gpulab alone looks for a device")) };
    refusal(&command).map_or(Ok(()), |why| Err(allowed(why)))?;
    let own = words.into_iter().skip(1).collect::<Vec<_>>();
    let is_markdown = is_markdown(&command);
    Ok(match command {
        Command::Plot(options) => {
            let path = Path::new(&options.output);
            if options.output == "-" || !path.components().all(|part| matches!(part, Component::Normal(_))) {
                let how = "a picture goes to a file below this folder, as in -o docs/pictures/reduce.svg";
                return Err(how.to_owned());
            }
            BlockContent::Picture(Box::new(options))
        }
        _ if is_markdown => BlockContent::Markdown(own),
        _ => BlockContent::Text(own),
    })
}

/// Whether what a command prints is Markdown.
fn is_markdown(command: &Command) -> bool {
    match command {
        Command::Show(options) => options.md.is_some(),
        Command::Tune(options) => options.md.is_some(),
        Command::Columns { md, .. } | Command::List { md, .. } | Command::Help { md, .. } => *md,
        _ => false,
    }
}

/// What the parser says of a command line, in a line.
fn misread(error: &clap::Error) -> String {
    if !error.use_stderr() {
        return "gpulab help COMMAND prints a command's options".to_owned();
    }
    let own = || {
        let text = error.render().to_string();
        text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    words::misunderstood(error).unwrap_or_else(own)
}

/// Why a command has no place in a document: only those that need no device and write nothing have one.
fn refusal(command: &Command) -> Option<&'static str> {
    let is_file = |path: &Option<String>| path.as_ref().is_some_and(|path| path != "-");
    const FILES: &str = "it writes files: a block holds only standard output";
    match command {
        Command::Plot(_)
        | Command::Columns { .. }
        | Command::List { .. }
        | Command::Explain { .. }
        | Command::Diff(_)
        | Command::Help { .. } => None,
        Command::Show(options) => is_file(&options.md).then_some(FILES),
        Command::Compare(options) => (is_file(&options.rows.csv) || is_file(&options.rows.json)).then_some(FILES),
        Command::Source(options) => options.expanded.then_some("--expanded needs a device"),
        Command::Tune(options) if !options.replay.is_empty() => {
            (!options.export.is_empty() || is_file(&options.md)).then_some(FILES)
        }
        Command::Tune(_) => Some("it needs a device, except with --replay"),
        Command::Report(_) => Some("it writes documents itself"),
        Command::Devices { .. }
        | Command::Doctor { .. }
        | Command::Dot(_)
        | Command::Reduce(_)
        | Command::Transpose(_)
        | Command::Minplus(_)
        | Command::Ceiling(_)
        | Command::Lab(_)
        | Command::Count(_)
        | Command::Occupancy(_)
        | Command::Sweep(_)
        | Command::Noise(_)
        | Command::Try(_)
        | Command::Ladder(_)
        | Command::Record(_) => Some("it needs a device or a simulator"),
        Command::Exercise { .. } => Some("it keeps progress, and needs a device to check"),
        Command::Tuned { .. } | Command::Merge { .. } | Command::Completions { .. } | Command::Man { .. } => {
            Some("its output is not for readers, or it changes files")
        }
        Command::Worker => Some("it is for gpulab itself"),
    }
}

/// A refusal, with the commands that blocks may have.
fn allowed(why: &str) -> String {
    format!("{why}; blocks take show, plot, compare, columns, list, explain, source, diff, help and tune --replay")
}

/// Refuses documents and pictures that are the same file, and pictures in place of what gpulab did not write.
fn check_outputs(documents: &[String], blocks: &[Planned<'_>], is_forced: bool) -> Result<(), Error> {
    let plots = || {
        blocks.iter().filter_map(|planned| match &planned.content {
            BlockContent::Picture(options) => Some(options),
            _ => None,
        })
    };
    let documents = documents.iter().map(|path| OutputFile { option: "--splice", path, is_ours: |_| true });
    let pictures = plots().map(|options| OutputFile { option: "plot -o", ..named::picture(options) });
    let read: Vec<PathBuf> = plots().flat_map(|options| named::shown(&options.files)).collect();
    store::check_outputs(&documents.chain(pictures).collect::<Vec<_>>(), &read, is_forced)
}

/// A block with its new text.
struct Filled<'a> {
    planned: &'a Planned<'a>,
    body: String,
    /// A picture's file, and what it is to hold.
    picture: Option<(&'a str, Vec<u8>)>,
}

impl<'a> Planned<'a> {
    fn new(document: &'a Document, block: &'a DocBlock) -> Result<Planned<'a>, Error> {
        let refused = |why| Error::Usage(format!("{}: {}: {why}", place(document, block), block.command));
        Ok(Planned { document, block, content: content(&block.command).map_err(refused)? })
    }

    fn fill(&self) -> Result<Filled<'_>, Error> {
        let failed =
            |why: &str| Error::Failed(format!("{}: {}: {why}", place(self.document, self.block), self.block.command));
        Ok(match &self.content {
            BlockContent::Text(words) => {
                Filled { planned: self, body: fenced(&printed(words).map_err(|why| failed(&why))?), picture: None }
            }
            BlockContent::Markdown(words) => {
                let text = printed(words).map_err(|why| failed(&why))?;
                Filled { planned: self, body: format!("{}\n", text.trim_end()), picture: None }
            }
            BlockContent::Picture(options) => {
                let drawn = plot::finished(options).map_err(|error| failed(&error.to_string()))?;
                if let Some(note) = drawn.notes.first() {
                    return Err(failed(note));
                }
                let link = link(&self.document.path, &options.output).map_err(|why| failed(&why.to_string()))?;
                let alt = markdown(&format!("{}. {}", drawn.title.trim_end_matches('.'), drawn.about));
                let picture = Some((options.output.as_str(), drawn.bytes));
                Filled { planned: self, body: format!("![{alt}]({link})\n"), picture }
            }
        })
    }
}

impl Filled<'_> {
    /// Where a block is not what its command gives, and what differs first.
    fn stale(&self) -> Option<String> {
        let Planned { document, block, .. } = self.planned;
        let old = document.text[block.body.clone()].lines().map(str::trim_end);
        let new: Vec<&str> = self.body.lines().map(str::trim_end).collect();
        let old: Vec<&str> = old.collect();
        let what = match (0..old.len().max(new.len())).find(|&at| old.get(at) != new.get(at)) {
            Some(at) => {
                let told = |line: Option<&&str>| {
                    line.map_or("nothing".to_owned(), |line| format::terminal(&format!("{line:?}")))
                };
                let line = block.line + 1 + at;
                format!("line {line} is {}, and should be {}", told(old.get(at)), told(new.get(at)))
            }
            None => {
                let (path, bytes) = self.picture.as_ref()?;
                match files::read(Path::new(path)) {
                    Ok(now) if now == *bytes => return None,
                    Ok(_) => format!("{path} is another picture"),
                    Err(error) => format!("{path}: {error}"),
                }
            }
        };
        Some(format!("{}: {}: {what}", place(document, block), format::terminal(&block.command)))
    }

    fn write_picture(&self) -> Result<(), Error> {
        let Some((path, bytes)) = &self.picture else { return Ok(()) };
        if files::read(Path::new(path)).is_ok_and(|now| now == *bytes) {
            return Ok(());
        }
        files::write_whole(Path::new(path), bytes).map_err(|source| Error::Output { what: (*path).to_owned(), source })
    }
}

/// What this program prints for these words, in a pipe of usual width with all characters and no colours.
///
/// Errors: what it says when it fails.
fn printed(words: &[String]) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|e| format!("gpulab cannot find its own program: {e}"))?;
    let mut command = process::Command::new(program);
    command.args(words).env("COLUMNS", CODE_WIDTH.to_string()).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
    command.env_remove(crate::cli::DEVICE_VARIABLE).stdin(process::Stdio::null());
    let output = command.output().map_err(|e| format!("cannot start gpulab again: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.trim().trim_start_matches("gpulab: ").to_owned());
    }
    String::from_utf8(output.stdout).map_err(|_| "its output is not UTF-8 text".to_owned())
}

/// A picture's path as seen from its document, as Markdown's links take it. Both are paths from the folder of the command.
fn link(document: &str, picture: &str) -> std::io::Result<String> {
    let here = std::env::current_dir()?.canonicalize()?;
    let folder = match Path::new(document).parent() {
        Some(parent) if parent != Path::new("") => parent.canonicalize()?,
        _ => here.clone(),
    };
    let none = || std::io::Error::other("no relative path leads from the document to the picture");
    files::address(&folder, &here.join(picture)).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_need_no_device_and_write_nothing_have_a_place() {
        for (command, why) in [
            ("gpulab dot", "needs a device"),
            ("gpulab show h200 launch --md x.md", "writes files"),
            ("gpulab tune --replay a.csv --md x.md", "writes files"),
            ("gpulab", "looks for a device"),
            ("gpulab tune dot", "except with --replay"),
            ("gpulab tune --replay a.csv --export kernel-tuner b.json", "it writes files"),
            ("gpulab compare a b --csv c", "it writes files"),
            ("gpulab source stride --expanded", "--expanded needs a device"),
            ("gpulab report --splice README.md", "writes documents itself"),
            ("gpulab worker", "for gpulab itself"),
            ("gpulab shwo h200", "did you mean `gpulab show`"),
            ("gpulab show --nosuch", "unexpected argument '--nosuch'"),
            ("gpulab show --help", "gpulab help COMMAND"),
            ("gpulab show --color always", "no colours"),
            ("gpulab show -d gpu", "no device"),
            ("gpulab plot h200 reduce --what ladder -o -", "to a file below this folder"),
            ("gpulab plot h200 reduce --what ladder -o ../x.svg", "to a file below this folder"),
            ("gpulab plot h200 reduce --what ladder -o /x.svg", "to a file below this folder"),
            ("gpulab show 'h200", "is not closed"),
        ] {
            let said = content(command).err().unwrap_or_default();
            assert!(said.contains(why), "{command}: {said}");
        }
        for command in ["gpulab show h200 dot", "gpulab tune --replay a.csv", "gpulab compare a b --csv -"] {
            assert!(matches!(content(command), Ok(BlockContent::Text(_))), "{command}");
        }
        assert!(matches!(content("gpulab columns --md"), Ok(BlockContent::Markdown(_))));
    }

    #[test]
    fn links_lead_from_the_document_to_the_picture() {
        let link = |document, picture| link(document, picture).unwrap();
        assert_eq!(link("README.md", "docs/pictures/a b.svg"), "docs/pictures/a%20b.svg");
        assert_eq!(link("./docs/x.md", "docs/pictures/a.svg"), "pictures/a.svg");
        assert_eq!(link("tests/cli/x.md", "docs/a.svg"), "../../docs/a.svg");
        let whole = std::env::current_dir().unwrap().join("docs/x.md");
        assert_eq!(link(whole.to_str().unwrap(), "docs/a.svg"), "a.svg");
    }
}

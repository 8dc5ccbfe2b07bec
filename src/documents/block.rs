//! A block of a document: what its command may be, and what it gives.
//!
//! A text comes from this program itself, run once more; a picture is drawn here. Commands that could start anything else are
//! refused, `report` among them, so that no document runs kernels or begins anew.

use super::allowed::{is_markdown, refusal};
use super::document::Document;
use crate::cli::{Cli, Color, Command, PlotArgs};
use crate::prelude::*;
use crate::report::blocks::{DocBlock, command_words, fenced};
use crate::report::format::markdown;
use crate::report::markdown::CODE_WIDTH;
use crate::store::{self, OutputFile};
use crate::{shown, written};
use clap::Parser;
use std::path::Component;
use std::process;

/// A block, and how it is filled.
pub(crate) struct PlannedBlock<'a> {
    pub(crate) document: &'a Document,
    pub(crate) block: &'a DocBlock,
    pub(crate) content: BlockContent,
}

pub(crate) enum BlockContent {
    /// Code: the words behind `gpulab`.
    Text(Vec<String>),
    Markdown(Vec<String>),
    Picture(Box<PlotArgs>),
}

pub(crate) fn planned(documents: &[Document]) -> Result<Vec<PlannedBlock<'_>>, Error> {
    let all = documents.iter().flat_map(|document| document.blocks.iter().map(move |block| (document, block)));
    all.map(|(document, block)| PlannedBlock::new(document, block)).collect()
}

/// `README.md:12`.
fn place(document: &Document, block: &DocBlock) -> String {
    format!("{}:{}", format::terminal(&document.path), block.line)
}

/// Reads a block's command.
///
/// Errors: why it has no place in a document.
pub(crate) fn content(command: &str) -> Result<BlockContent, String> {
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

/// What the parser says of a command line, in a line.
fn misread(error: &clap::Error) -> String {
    if !error.use_stderr() {
        return "gpulab help COMMAND prints a command's options".to_owned();
    }
    let text = error.render().to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// A refusal, with the commands that blocks may have.
fn allowed(why: &str) -> String {
    format!("{why}; blocks take show, plot, compare, columns, list, explain, source, diff, help and tune --replay")
}

/// Refuses documents and pictures that are the same file, and pictures in place of what gpulab did not write.
pub(crate) fn check_outputs(documents: &[String], blocks: &[PlannedBlock<'_>], is_forced: bool) -> Result<(), Error> {
    let plots = || {
        blocks.iter().filter_map(|planned| match &planned.content {
            BlockContent::Picture(options) => Some(options),
            _ => None,
        })
    };
    let documents =
        documents.iter().map(|path| OutputFile { option: "--splice", path: path.into(), is_ours: |_| true });
    let pictures = plots().map(|options| OutputFile { option: "plot -o", ..written::picture(&options.output) });
    let read: Vec<PathBuf> = plots().flat_map(|options| written::shown(&options.files)).collect();
    store::check_outputs(&documents.chain(pictures).collect::<Vec<_>>(), &read, is_forced)
}

/// A block with its new text.
pub(crate) struct Filled<'a> {
    pub(crate) planned: &'a PlannedBlock<'a>,
    pub(crate) body: String,
    /// A picture's file, and what it is to hold.
    pub(crate) picture: Option<(&'a str, Vec<u8>)>,
}

impl<'a> PlannedBlock<'a> {
    fn new(document: &'a Document, block: &'a DocBlock) -> Result<PlannedBlock<'a>, Error> {
        Ok(PlannedBlock {
            document,
            block,
            content: content(&block.command)
                .map_err(|why| Error::Usage(format!("{}: {}: {why}", place(document, block), block.command)))?,
        })
    }

    pub(crate) fn fill(&self) -> Result<Filled<'_>, Error> {
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
                let drawn = shown::finished(options).map_err(|error| failed(&error.to_string()))?;
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
    pub(crate) fn stale(&self) -> Option<String> {
        let PlannedBlock { document, block, .. } = self.planned;
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

    pub(crate) fn write_picture(&self) -> Result<(), Error> {
        let Some((path, bytes)) = &self.picture else { return Ok(()) };
        if files::read(Path::new(path)).is_ok_and(|now| now == *bytes) {
            return Ok(());
        }
        files::write_whole(Path::new(path), bytes).map_err(Error::unwritten(path))
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
    files::address(&folder, &here.join(picture))
        .ok_or_else(|| std::io::Error::other("no relative path leads from the document to the picture"))
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

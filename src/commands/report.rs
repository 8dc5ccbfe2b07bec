//! `gpulab report`: recorded results as a page, or as a gallery of pages; or documents renewed from them.

use crate::cli::ReportArgs;
use crate::counting::shipped_counts;
use crate::documents::{Document, Filled, PlannedBlock, check_outputs, planned};
use crate::outputs;
use crate::pages::{films_beside, folders, inputs, is_folder, write_gallery};
use crate::prelude::*;
use crate::report::format::counted;
use crate::report::page::{self, PageMaterial};
use crate::shown::add_kept;

/// Where the page goes when nothing else is asked for.
const REPORT: &str = "report.html";

/// Writes the page, or the pages.
pub fn run(global: &Global, options: &ReportArgs) -> Result<(), Error> {
    let output = options.output.as_deref().unwrap_or(REPORT);
    let inputs = inputs(&options.files)?;
    if is_folder(output) {
        return write_gallery(output, inputs, global);
    }
    let mut counts = shipped_counts()?;
    let mut folders = folders(inputs, &mut counts, &|_| None, global.quiet);
    folders.iter_mut().for_each(|folder| add_kept(&mut folder.ceilings, &folder.rows.iter().collect::<Vec<_>>()));
    let films = films_beside(output);
    let page = page::html(&PageMaterial { folders: &folders, counts: &counts, films: &films, home: None });
    outputs::write_told(global, output, &page, &format!(", {} KiB", page.len().div_ceil(1024)))
}

/// Fills the blocks and the figures of the documents, or with `--check` says which are stale.
/// Writes nothing unless every block gave its text.
pub fn splice(out: &mut Out, global: &Global, options: &ReportArgs) -> Result<(), Error> {
    if !options.splicing.splice {
        return Err(Error::Usage("gpulab report renews documents: give --splice before their names".into()));
    }
    let documents = options.files.iter().map(|path| Document::read(path)).collect::<Result<Vec<_>, Error>>()?;
    let blocks: Vec<PlannedBlock> = planned(&documents)?;
    check_outputs(&options.files, &blocks, global.force || options.splicing.check)?;
    let filled = blocks.iter().map(PlannedBlock::fill).collect::<Result<Vec<Filled>, Error>>()?;
    let mut tables = BTreeMap::new();
    let numbers = documents.iter().map(|one| one.numbers(&mut tables)).collect::<Result<Vec<Vec<String>>, Error>>()?;
    let bodies = |document: &Document| {
        let own = filled.iter().filter(|one| std::ptr::eq(one.planned.document, document));
        own.map(|one| (one.planned.block.body.clone(), one.body.clone())).collect()
    };
    let renewed = documents.iter().zip(&numbers).map(|(document, numbers)| document.renewed(bodies(document), numbers));
    let renewed = renewed.collect::<Result<Vec<String>, Error>>()?;
    let stale_figures = documents.iter().zip(&numbers).flat_map(|(document, numbers)| document.stale_figures(numbers));
    let stale: Vec<String> = filled.iter().filter_map(Filled::stale).chain(stale_figures).collect();
    let found = match (blocks.len(), numbers.iter().map(Vec::len).sum()) {
        (0, 0) if options.splicing.check => {
            return Err(Error::Usage("the files hold neither a block nor a figure to check".into()));
        }
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

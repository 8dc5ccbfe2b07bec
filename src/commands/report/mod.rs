//! `gpulab report`: recorded results as a page, or as a gallery of pages.

mod gallery;
mod inputs;

use super::shown::add_kept;
use super::study::PointStudy;
use super::{note, why};
use crate::Error;
use crate::cli::{Global, ReportArgs};
use crate::count::CountRow;
use crate::record::Point;
use crate::report::groups::experiments;
use crate::report::page::{self, DataFile, DataPlace, PageMaterial, RecordedFolder, RecordedStudy};
use crate::report::picture::{self, StudyText};
use crate::store::Deferred;
pub(super) use gallery::is_folder;
use inputs::{InputFile, InputFolder, inputs};
use std::path::Path;

/// Where the page goes when nothing else is asked for.
pub(super) const DEFAULT: &str = "report.html";

/// Writes the page, or the pages.
///
/// # Errors
/// [`Error::Failed`] for a file that cannot be read, [`Error::Usage`] for one that holds no results, [`Error::Output`] for
/// a page that cannot be written.
pub fn run(global: &Global, options: &ReportArgs) -> Result<(), Error> {
    let output = options.output.as_deref().unwrap_or(DEFAULT);
    let inputs = inputs(&options.files)?;
    if is_folder(output) {
        return gallery::write(output, inputs, global);
    }
    let mut counts = why::shipped()?;
    let mut folders = folders(inputs, &mut counts, &|_| None, global.quiet);
    folders.iter_mut().for_each(|folder| add_kept(&mut folder.ceilings, &folder.rows));
    let page = page::html(&PageMaterial { folders: &folders, counts: &counts, home: None });
    Deferred::open(output)?.replace(|out| out.write_all(page.as_bytes()).and_then(|()| out.flush()))?;
    if output != "-" && !global.quiet {
        note(&format!("wrote {output}, {} KiB", page.len().div_ceil(1024)));
    }
    Ok(())
}

/// What pages are made from. Counts in the files go to `counts`; `link` gives the address of a file that pages link, and none
/// of one that they hold.
fn folders(
    inputs: Vec<InputFolder>,
    counts: &mut Vec<CountRow>,
    link: &dyn Fn(&Path) -> Option<String>,
    is_quiet: bool,
) -> Vec<RecordedFolder> {
    let file = |InputFile { name, path, text, .. }: InputFile| {
        let bytes = text.len();
        let place = path.and_then(|path| link(&path)).map_or(DataPlace::Held(text), DataPlace::Linked);
        DataFile { name, bytes, place }
    };
    let folder = |input: InputFolder| {
        let name = input.name.clone();
        let (own, files) = input.take();
        if !is_quiet {
            own.torn.iter().for_each(|torn| note(torn));
        }
        counts.extend(own.counts);
        RecordedFolder {
            name,
            rows: own.rows,
            studies: experiments(&own.points).into_iter().map(study).collect(),
            ceilings: own.ceilings,
            samples: own.samples,
            peers: own.peers,
            files: files.into_iter().map(file).collect(),
        }
    };
    inputs.into_iter().map(folder).collect()
}

fn study(points: Vec<Point>) -> RecordedStudy {
    let own = PointStudy::of(&points);
    let text = StudyText { question: own.question, finding: &own.finding, label: &|x| own.label(x) };
    let picture = picture::experiment(&points, &text);
    RecordedStudy { question: own.question.to_owned(), finding: own.finding.clone(), picture, points }
}

//! `gpulab report`: recorded results as a page.

mod inputs;

use super::study::PointStudy;
use super::{note, why};
use crate::Error;
use crate::cli::{Global, ReportArgs};
use crate::record::Point;
use crate::report::groups::experiments;
use crate::report::page::{self, DataFile, DataPlace, PageMaterial, RecordedFolder, RecordedStudy};
use crate::report::picture::{self, StudyText};
use crate::store::{Deferred, keep_apart};
use inputs::{InputFolder, inputs};

/// Where the page goes when nothing else is asked for.
const DEFAULT: &str = "report.html";

/// Writes the page.
///
/// # Errors
/// [`Error::Failed`] for a file that cannot be read, [`Error::Usage`] for one that holds no results, [`Error::Output`] for
/// a page that cannot be written.
pub fn run(global: &Global, options: &ReportArgs) -> Result<(), Error> {
    let output = options.output.as_deref().unwrap_or(DEFAULT);
    let folders = inputs(&options.files)?;
    let paths: Vec<_> = folders.iter().flat_map(|folder| &folder.files).filter_map(|file| file.path.clone()).collect();
    keep_apart(&[("-o", Some(output))], &paths)?;
    let page = page::html(&material(folders, global.quiet)?);
    Deferred::open(output)?.replace(|out| out.write_all(page.as_bytes()).and_then(|()| out.flush()))?;
    if output != "-" && !global.quiet {
        note(&format!("wrote {output}, {} KiB", page.len().div_ceil(1024)));
    }
    Ok(())
}

/// What pages are made from; of the counts those that come with gpulab, and those in the files.
fn material(folders: Vec<InputFolder>, is_quiet: bool) -> Result<PageMaterial, Error> {
    let mut all = PageMaterial { counts: why::shipped()?, folders: Vec::new() };
    for folder in folders {
        let name = folder.name.clone();
        let (own, files) = folder.take();
        if !is_quiet {
            own.torn.iter().for_each(|torn| note(torn));
        }
        let file = |(name, _, text)| -> DataFile {
            let text: std::borrow::Cow<'static, [u8]> = text;
            DataFile { name, bytes: text.len(), place: DataPlace::Held(text) }
        };
        all.counts.extend(own.counts);
        all.folders.push(RecordedFolder {
            name,
            rows: own.rows,
            studies: experiments(&own.points).into_iter().map(study).collect(),
            ceilings: own.ceilings,
            samples: own.samples,
            peers: own.peers,
            files: files.into_iter().map(file).collect(),
        });
    }
    Ok(all)
}

fn study(points: Vec<Point>) -> RecordedStudy {
    let own = PointStudy::of(&points);
    let text = StudyText { question: own.question, finding: &own.finding, label: &|x| own.label(x) };
    let picture = picture::experiment(&points, &text);
    RecordedStudy { question: own.question.to_owned(), finding: own.finding.clone(), picture, points }
}

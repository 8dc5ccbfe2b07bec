//! `gpulab report`: recorded results as a page, or as a gallery of pages.

mod gallery;
mod inputs;
pub(super) mod splice;

use crate::Error;
use crate::cli::{Global, ReportArgs};
use crate::console::note;
use crate::counting::why;
use crate::report::page::{self, PageMaterial};
use crate::shown::add_kept;
use crate::store::Deferred;
pub(super) use gallery::is_folder;
use inputs::{folders, inputs};

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

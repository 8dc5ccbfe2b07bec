//! `gpulab plot`: a picture of recorded results.

use crate::Error;
use crate::cli::{Global, PlotArgs};
use crate::console::note;
use crate::shown::finished;
use crate::store::Deferred;

/// Draws what was asked for into its file.
///
/// # Errors
/// [`Error::Failed`] for a file that cannot be read, [`Error::Usage`] for one that holds nothing to draw,
/// [`Error::Output`] for a picture that cannot be written.
pub fn run(global: &Global, options: &PlotArgs) -> Result<(), Error> {
    let picture = finished(options)?;
    if !global.quiet {
        picture.notes.iter().for_each(|text| note(text));
    }
    Deferred::open(&options.output)?.replace(|out| out.write_all(&picture.bytes).and_then(|()| out.flush()))?;
    if !global.quiet && options.output != "-" {
        note(&format!("wrote {}: {}", options.output, picture.title));
    }
    Ok(())
}

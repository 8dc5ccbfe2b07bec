//! `gpulab plot`: a picture of recorded results.

use crate::cli::PlotArgs;
use crate::outputs;
use crate::prelude::*;
use crate::shown::finished;

/// Draws what was asked for into its file.
pub fn run(global: &Global, options: &PlotArgs) -> Result<(), Error> {
    let picture = finished(options)?;
    if !global.quiet {
        picture.notes.iter().for_each(|text| note(text));
    }
    outputs::write(&options.output, &picture.bytes)?;
    if !global.quiet && options.output != "-" {
        note(&format!("wrote {}: {}", options.output, picture.title));
    }
    Ok(())
}

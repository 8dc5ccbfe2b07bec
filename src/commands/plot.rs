//! `gpulab plot`: a picture of recorded results.

use crate::cli::PlotArgs;
use crate::outputs;
use crate::prelude::*;
use crate::shown::finished;

/// Draws what was asked for into its file.
pub fn run(global: &Global, options: &PlotArgs) -> Result<(), Error> {
    let picture = finished(options)?;
    picture.notes.iter().for_each(|text| global.note(text));
    outputs::write_told(global, &options.output, &picture.bytes, &format!(": {}", picture.title))
}

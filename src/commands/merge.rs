//! `gpulab merge`: one file of a sweep's shards.

use crate::prelude::*;
use crate::store::write_rows;
use crate::sweeping::joined;

/// Joins the files and writes the whole sweep, or nothing.
pub fn run(files: &[PathBuf], output: &str) -> Result<(), Error> {
    write_rows(output, &joined(files)?)
}

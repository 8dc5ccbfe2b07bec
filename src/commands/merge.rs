//! `gpulab merge`: one file of a sweep's shards.

use crate::store::{read_rows, write_rows};
use crate::{Error, sweep};
use std::path::PathBuf;

/// Joins the files and writes the whole sweep, or nothing.
pub fn run(files: &[PathBuf], output: &str) -> Result<(), Error> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), read_rows(path)?));
    let files = files.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    let rows = sweep::merge(files).map_err(Error::Usage)?;
    write_rows(output, &rows)
}

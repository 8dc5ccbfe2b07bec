//! `gpulab completions` and `gpulab man`: files for packagers.

use super::Out;
use crate::Error;
use crate::cli::Cli;
use clap::CommandFactory;
use std::path::Path;

/// Prints a shell's completion script.
///
/// # Errors
/// [`Error::Output`].
pub fn completions(out: &mut Out, shell: clap_complete::Shell) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gpulab", &mut script);
    out.bytes(&script)
}

/// Writes `gpulab.1` and a page for each subcommand into `dir`.
///
/// # Errors
/// [`Error::Output`] if the folder cannot be written to.
pub fn man(dir: &Path) -> Result<(), Error> {
    clap_mangen::generate_to(Cli::command(), dir)
        .map_err(|source| Error::Output { what: format!("man pages into {}", dir.display()), source })
}

//! `gpulab mcp`: gives way to the server, a program of its own beside this one.

use crate::{Error, Result, usage_error};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

pub fn run(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        return usage_error(format!("{}: name a folder", folder.display()));
    }
    let own = std::env::current_exe().map_err(|why| Error::Failed(why.to_string()))?;
    let why = Command::new(own.with_file_name("gpulab-mcp"))
        .arg(folder)
        .exec();
    Err(Error::Failed(format!(
        "gpulab-mcp beside gpulab does not start ({why}): build it with `cargo build --release -p gpulab-mcp`"
    )))
}

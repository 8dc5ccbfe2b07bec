//! `gpulab report`: recorded results as one page.

use crate::cli::Global;
use crate::commands::count::counter::shipped_counts;
use crate::commands::show::records::{asked, files_below, material};
use crate::report::groups::distinct;
use crate::report::page::{self, DataFile};
use crate::report::shown::Material;
use crate::store::shipped;
use crate::{Error, Result, files, outputs, usage_error};
use std::borrow::Cow;
use std::path::Path;

/// Writes the page.
pub fn run(global: &Global, named: &[String], output: &str) -> Result<()> {
    let mut words: Vec<String> = Vec::new();
    for word in named {
        match Path::new(word).is_dir() {
            true => words.extend(
                files_below(Path::new(word))
                    .iter()
                    .map(|path| path.display().to_string()),
            ),
            false => words.push(word.clone()),
        }
    }
    if words.is_empty() {
        return usage_error(format!("no CSV or JSON file in {}", named.join(", ")));
    }
    let shown = asked(&distinct(words))?;
    let files = data(&shown)?;
    let material = material(shown)?;
    material.torn.iter().for_each(|torn| global.note(torn));
    let mut counts = shipped_counts()?;
    counts.extend_from_slice(&material.counts);
    let page = page::html(&material, &files, &counts);
    outputs::write_told(
        global,
        output,
        &page,
        &format!(", {} KiB", page.len().div_ceil(1024)),
    )
}

/// The files as they are, for the reader to download.
fn data(shown: &[Material]) -> Result<Vec<DataFile>> {
    let all = shipped();
    distinct(shown.iter().map(|file| file.name.as_str()))
        .into_iter()
        .map(|name| {
            let own = all
                .iter()
                .find(|file| format!("{}/{}", file.device, file.name) == name);
            let bytes = match own {
                Some(file) => Cow::Borrowed(file.text),
                None => Cow::Owned(
                    files::read(Path::new(name))
                        .map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?,
                ),
            };
            let ending = if own.is_some() { ".csv" } else { "" };
            Ok(DataFile {
                name: format!(
                    "{}{ending}",
                    name.rsplit(['/', '\\']).next().unwrap_or(name)
                ),
                bytes,
            })
        })
        .collect()
}

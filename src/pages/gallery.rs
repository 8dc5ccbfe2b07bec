//! A gallery: a page for each folder of files, and one that compares them.

use super::inputs::{InputFolder, folders};
use crate::ceilings::Site;
use crate::counting::shipped_counts;
use crate::files::{address, write_whole};
use crate::prelude::*;
use crate::report::page::{self, PageMaterial, RecordedFolder, is_page};
use crate::store::{OutputFile, check_outputs};

/// The page that compares.
const INDEX: &str = "index";

/// Writes the pages into a folder, which is made if need be. Data that lie in files are linked from there.
pub(crate) fn write(output: &str, inputs: Vec<InputFolder>, global: &Global) -> Result<(), Error> {
    let folder = Path::new(output);
    let failed = Error::unwritten(output);
    fs::create_dir_all(folder).map_err(failed)?;
    let from = fs::canonicalize(folder).map_err(failed)?;
    let read: Vec<PathBuf> =
        inputs.iter().flat_map(|folder| &folder.files).filter_map(|file| file.path.clone()).collect();
    let mut counts = shipped_counts()?;
    let link = |path: &Path| fs::canonicalize(path).ok().and_then(|path| address(&from, &path));
    let mut folders = folders(inputs, &mut counts, &link, global.quiet);
    // The fastest memory first, then devices whose limits are not known.
    folders.sort_by(|a, b| memory(b).total_cmp(&memory(a)));
    let pages = file_names(folders.iter().map(|folder| folder.name.as_str()));
    let index = format!("{INDEX}.html");
    let paths: Vec<String> =
        pages.iter().chain([&index]).map(|name| folder.join(name).to_string_lossy().into_owned()).collect();
    let outputs: Vec<_> =
        paths.iter().map(|path| OutputFile { option: "-o", path: path.into(), is_ours: is_page }).collect();
    check_outputs(&outputs, &read, global.force)?;
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        write_whole(&path, text).map_err(Error::unwritten(&path))
    };
    for (own, page) in folders.iter().zip(&pages) {
        let home = Some("index.html");
        let folders = std::slice::from_ref(own);
        put(page, &page::html(&PageMaterial { folders, counts: &counts, films: &[], home }))?;
    }
    put(&index, &page::index(&PageMaterial { folders: &folders, counts: &counts, films: &[], home: None }, &pages))?;
    global.note(&format!("wrote {}: {INDEX}.html and {} pages", folder.display(), pages.len()));
    Ok(())
}

/// What memory gives at best in GB/s; nothing where it is not recorded.
fn memory(folder: &RecordedFolder) -> f64 {
    let reads = folder.ceilings.iter().filter(|row| row.what == "read" && row.place == Site::Memory);
    reads.filter_map(|row| row.value).fold(0.0, f64::max)
}

/// A file's name for each folder's page: of letters that every system takes, each once, whatever the case of letters.
fn file_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = vec![INDEX.to_owned()];
    names
        .map(|name: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
            let base = if plain.is_empty() { "results".to_owned() } else { plain };
            let all = std::iter::once(base.clone()).chain((2..).map(|at: u64| format!("{base}-{at}")));
            let own = all.into_iter().find(|name| !taken.contains(&name.to_lowercase())).unwrap_or(base);
            taken.push(own.to_lowercase());
            format!("{own}.html")
        })
        .collect()
}

/// Whether an output is a folder: it is there, or its name ends as one.
pub(crate) fn is_folder(output: &str) -> bool {
    output != "-" && (output.ends_with(['/', std::path::MAIN_SEPARATOR]) || PathBuf::from(output).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_names_of_their_own() {
        let names = ["nvidia-h200", "a b/<c>", "", "NVIDIA-H200", "Index"];
        let own = ["nvidia-h200.html", "a_b__c_.html", "results.html", "NVIDIA-H200-2.html", "Index-2.html"];
        assert_eq!(file_names(names.into_iter()), own);
    }
}
